import { get } from "node:http";

export type Health =
  | { state: "down" }
  /** It answers, and graphs are still loading. */
  | { state: "loading" }
  | { state: "ready" }
  /** It answers, and these graphs do not load. */
  | { state: "broken"; graphs: string[] };

/** Asks an agent server how it and its graphs are. Never throws. */
export async function probe(port: number, timeoutMs: number): Promise<Health> {
  const text = await new Promise<string | null>((resolve) => {
    const request = get(
      { host: "127.0.0.1", port, path: "/ok?check_db=true", timeout: timeoutMs, agent: false },
      (response) => {
        let body = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => (body += chunk));
        response.on("end", () => resolve(response.statusCode === 200 ? body : null));
        response.on("error", () => resolve(null));
      },
    );
    request.on("timeout", () => request.destroy());
    request.on("error", () => resolve(null));
  });
  if (text === null) return { state: "down" };
  try {
    const { checks } = JSON.parse(text) as {
      checks?: { graph_hosts: { ok: boolean }; graphs: Record<string, boolean> };
    };
    const graphs = Object.entries(checks?.graphs ?? {});
    if (graphs.length === 0) return { state: "loading" };
    const broken = graphs.filter(([, isOk]) => !isOk).map(([id]) => id);
    if (broken.length > 0) return { state: "broken", graphs: broken };
    return { state: checks!.graph_hosts.ok ? "ready" : "loading" };
  } catch {
    return { state: "down" };
  }
}
