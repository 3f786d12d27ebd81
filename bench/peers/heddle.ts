import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { startTrace } from "../servers.ts";
import { type Found, PeerClient, type Side, type Way, type Wanted } from "./side.ts";
import { PROJECT, type SeededSpan } from "./spans.ts";

interface Run {
  id: string;
  inputs?: unknown;
}

/** What a table of runs shows. */
const SELECT = ["id", "name", "status", "start_time", "end_time", "inputs_preview", "outputs_preview", "total_tokens"];

/** What the statistics of a project are. */
const STATS = ["run_count", "latency_p50", "latency_p99", "total_tokens"];

/** Returns a time before all spans, another one at each call: the platform remembers answers until something is written. */
let asked = 0;
const before = (): string => new Date(Date.now() - 400 * 86_400_000 - asked++ * 1000).toISOString();

/** The platform's ids end with the span's. */
const spanId = (id: string): string => id.slice(-17).replace("-", "");
const runId = ({ id }: SeededSpan): string => `00000000-0000-0000-${id.slice(0, 4)}-${id.slice(4)}`;
const traceUuid = ({ traceId }: SeededSpan): string =>
  traceId.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");

/** Starts Heddle's trace platform on its data in the directory, with a project if they are new. */
export async function startHeddleSide(directory: string, name: string): Promise<Side> {
  const server = await startTrace(directory, name, { HEDDLE_RATE_LIMITS: "off" });
  const client = new PeerClient(server.url, { "x-api-key": server.firstKey });
  const projects = await client.ask<{ id: string }[]>(`/sessions?name=${PROJECT}`);
  const { id: project } = projects[0] ?? (await client.ask<{ id: string }>("/sessions", { name: PROJECT }));
  const session = [project];
  const list = (query: (wanted: Wanted) => object): Way => ({
    requests: (wanted) => {
      const body = { session, select: SELECT, limit: 100, start_time: before(), ...query(wanted) };
      return [{ path: "/runs/query", body }];
    },
    read: ([answer]) => runsOf(answer),
  });
  const word = list(({ word: text }) => ({ filter: `search("${text}")` }));
  const version = await readFile(fileURLToPath(new URL("../../package.json", import.meta.url)), "utf8");
  return {
    name: "Heddle",
    version: (JSON.parse(version) as { version: string }).version,
    server,
    client,
    data: join(directory, `data-${name}`),
    otlp: { path: "/otel/v1/traces", headers: { "langsmith-project": PROJECT } },
    async stored() {
      const stats = await client.ask<{ run_count: number | null }>("/runs/stats", { session, select: ["run_count"] });
      return stats.run_count ?? 0;
    },
    ways: {
      run: [
        {
          requests: ({ span }) => [{ path: `/runs/${runId(span)}` }],
          read: ([answer]) => ({ spans: [spanId((answer as Run).id)] }),
        },
      ],
      trace: [
        {
          requests: ({ span }) => [{ path: "/runs/query", body: { session, trace: traceUuid(span), limit: 100 } }],
          read: ([answer]) => runsOf(answer),
        },
      ],
      roots: [list(() => ({ is_root: true }))],
      errors: [list(() => ({ error: true }))],
      totals: [
        {
          requests: () => [{ path: `/sessions/${project}?include_stats=true` }],
          read: ([answer]) => totalsOf(answer),
        },
      ],
      since: [
        {
          requests: ({ since }) => [
            {
              path: "/runs/stats",
              body: { session, is_root: true, start_time: new Date(since).toISOString(), select: STATS },
            },
          ],
          read: ([answer]) => totalsOf(answer),
        },
      ],
      attribute: [list(({ region }) => ({ filter: `and(eq(metadata_key,"region"),eq(metadata_value,"${region}"))` }))],
      common: [word],
      rare: [word],
      absent: [word],
    },
  };
}

const runsOf = (answer: unknown): Found => ({ spans: (answer as { runs: Run[] }).runs.map(({ id }) => spanId(id)) });

function totalsOf(answer: unknown): Found {
  const { run_count, latency_p50, latency_p99, total_tokens } = answer as Record<string, number>;
  return { totals: { traces: run_count!, tokens: total_tokens!, p50: latency_p50! * 1000, p99: latency_p99! * 1000 } };
}
