import { askInstance } from "./ask-instance.ts";

export type Health =
  | { state: "down" }
  /** Responding, with graphs still loading. */
  | { state: "loading" }
  /** Responding, but lacking a resource: its database, its disk. */
  | { state: "unable"; reason: string }
  | { state: "ready" }
  /** Responding, with graphs that fail to load. */
  | { state: "broken"; graphs: string[] };

/**
 * Probes an agent server and its graphs. Never throws. The response lists the server's parts under any status, so that
 * one without its database is distinguished from a dead one: killing it would only cost its runs.
 */
export async function probe(port: number, timeoutMs: number, host = "127.0.0.1"): Promise<Health> {
  const result = await askInstance({ host, port, path: "/ok?check_db=true" }, timeoutMs);
  if (result === null) return { state: "down" };
  try {
    const { checks, detail } = JSON.parse(result.text) as {
      checks?: { graph_hosts: { ok: boolean }; graphs: Record<string, boolean> };
      detail?: string;
    };
    if (result.status !== 200) return checks ? { state: "unable", reason: detail ?? "not ready" } : { state: "down" };
    const graphs = Object.entries(checks?.graphs ?? {});
    if (graphs.length === 0) return { state: "loading" };
    const broken = graphs.filter(([, isOk]) => !isOk).map(([id]) => id);
    if (broken.length > 0) return { state: "broken", graphs: broken };
    return { state: checks!.graph_hosts.ok ? "ready" : "loading" };
  } catch {
    return { state: "down" };
  }
}
