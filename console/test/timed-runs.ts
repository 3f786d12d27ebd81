/** Runs of a project at given times, as clients send them. */
import type { SharedPlatform } from "./shared-platform.ts";

/** Asks the trace platform of a shared platform. */
export async function askTraces(platform: SharedPlatform, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${platform.traceUrl}/api/v1${path}`, {
    method: body ? "POST" : "GET",
    headers: { "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return await response.json();
}

const micro = (ms: number) => new Date(ms).toISOString().replace("Z", "000Z");

/** Builds a run that begins at `start`, in milliseconds since 1970, and lasts `seconds`. */
export function timedRun(
  project: string,
  start: number,
  seconds: number,
  fields: Record<string, unknown>,
  parent?: Record<string, unknown>,
) {
  const id = crypto.randomUUID();
  const segment = `${micro(start).replace(/[-:.Z]/g, "")}Z${id}`;
  return {
    id,
    name: "agent",
    run_type: "chain",
    session_name: project,
    start_time: micro(start),
    end_time: micro(start + seconds * 1000),
    inputs: {},
    outputs: {},
    trace_id: parent?.["trace_id"] ?? id,
    ...(parent && { parent_run_id: parent["id"] }),
    dotted_order: parent ? `${String(parent["dotted_order"])}.${segment}` : segment,
    ...fields,
  };
}
