import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

interface TracedRun {
  id: string;
  trace_id?: string;
  name?: string;
  end_time?: string | null;
  outputs?: unknown;
}

/** Receives traces over HTTP in place of a trace platform, and keeps them in memory. */
export interface TraceReceiver {
  url: string;
  /** Resolves with the root run of a trace once it has ended. */
  ended(traceId: string): Promise<TracedRun>;
  /** Names of the runs of a trace. */
  spans(traceId: string): string[];
  close(): void;
}

const WAIT_MS = 15_000;

export async function startTraceReceiver(): Promise<TraceReceiver> {
  const runs = new Map<string, TracedRun>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (request.method === "POST") {
        const { post = [], patch = [] } = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, TracedRun[]>;
        for (const run of [...post, ...patch]) runs.set(run.id, { ...runs.get(run.id), ...run });
      }
      response.setHeader("content-type", "application/json").end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async ended(traceId) {
      const deadline = performance.now() + WAIT_MS;
      for (;;) {
        const root = runs.get(traceId);
        if (root?.end_time) return root;
        if (performance.now() > deadline) throw new Error(`no ended trace ${traceId} after ${WAIT_MS / 1000} s`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    spans: (traceId) => [...runs.values()].filter((run) => run.trace_id === traceId).flatMap(({ name }) => name ?? []),
    close: () => server.close(),
  };
}
