import { workspaceTracingKey } from "../../identity/tracing-key.ts";

/** The trace platform that deployments use. */
export interface Traces {
  url: string;
  /** Key with which a workspace's deployments send traces. */
  sendingKey(workspaceId: string): string;
  /** Key that may delete a deployment's project. */
  deletingKey(workspaceId: string): string;
}

/** Uses the trace platform and the single key configured by the operator; the key determines workspace and permissions. */
export const configuredTraces = (url: string, key: string): Traces => ({
  url,
  sendingKey: () => key,
  deletingKey: () => key,
});

/** Uses the trace platform of the same installation, with separate keys per workspace. */
export const ownTraces = ({ url, key }: { url: string; key: string }): Traces => ({
  url,
  sendingKey: (workspaceId) => workspaceTracingKey(key, workspaceId, "send"),
  deletingKey: (workspaceId) => workspaceTracingKey(key, workspaceId, "delete-project"),
});

const TIMEOUT_MS = 5_000;

/** Deletes the tracing project with this name and all its runs. Succeeds when there is no such project. */
export async function deleteTracingProject(traces: Traces, workspaceId: string, name: string): Promise<void> {
  const headers = { "x-api-key": traces.deletingKey(workspaceId), "x-tenant-id": workspaceId };
  const request = async (method: string, path: string): Promise<Response> => {
    const response = await fetch(`${traces.url.replace(/\/+$/, "")}/api/v1${path}`, {
      method,
      headers,
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.ok || response.status === 404) return response;
    const responseText = (await response.text()).slice(0, 300);
    throw new Error(`the trace platform did not delete the project ${name}: ${response.status} ${responseText}`);
  };
  const found = await request("GET", `/sessions?limit=1&name=${encodeURIComponent(name)}`);
  const projects = (found.status === 404 ? [] : await found.json()) as { id: string; name: string }[];
  for (const project of projects) {
    if (project.name === name) await (await request("DELETE", `/sessions/${project.id}`)).body?.cancel();
  }
}
