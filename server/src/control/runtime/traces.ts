import { workspaceTracingKey } from "../../identity/tracing-key.ts";

/** Trace platform, as used by deployments. */
export interface Traces {
  url: string;
  /** Key with which a workspace's deployments send traces. */
  sendingKey(workspaceId: string): string;
  /** Key that may delete a deployment's project. */
  deletingKey(workspaceId: string): string;
}

/** Trace platform configured by the operator, with one key, whose workspace and permissions apply. */
export const configuredTraces = (url: string, key: string): Traces => ({
  url,
  sendingKey: () => key,
  deletingKey: () => key,
});

/** Trace platform of the same installation, with separate keys per workspace. */
export const ownTraces = ({ url, key }: { url: string; key: string }): Traces => ({
  url,
  sendingKey: (workspaceId) => workspaceTracingKey(key, workspaceId, "send"),
  deletingKey: (workspaceId) => workspaceTracingKey(key, workspaceId, "delete-project"),
});

const LIMIT_MS = 5_000;

/** Deletes the tracing project of a name with all its runs; a missing one counts as deleted. */
export async function deleteTracingProject(traces: Traces, workspaceId: string, name: string): Promise<void> {
  const headers = { "x-api-key": traces.deletingKey(workspaceId), "x-tenant-id": workspaceId };
  const ask = async (method: string, path: string): Promise<Response> => {
    const answer = await fetch(`${traces.url.replace(/\/+$/, "")}/api/v1${path}`, {
      method,
      headers,
      redirect: "error",
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    if (answer.ok || answer.status === 404) return answer;
    const answerText = (await answer.text()).slice(0, 300);
    throw new Error(`the trace platform did not delete the project ${name}: ${answer.status} ${answerText}`);
  };
  const found = await ask("GET", `/sessions?limit=1&name=${encodeURIComponent(name)}`);
  const projects = (found.status === 404 ? [] : await found.json()) as { id: string; name: string }[];
  for (const project of projects) {
    if (project.name === name) await (await ask("DELETE", `/sessions/${project.id}`)).body?.cancel();
  }
}
