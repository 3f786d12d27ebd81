/** Filters and sorting mean what lists show: compared at the edges, for runs of every shape of usage. */
import { expect, test } from "vitest";

import { sampleRun, type SampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";

const { call, platform } = await testTracePlatform();
const session_id = await platform.deps.projects.ensureProject("00000000-0000-7000-8000-000000000001", "shown");

const usage = (input: number, output: number, cost: number) => ({
  usage_metadata: {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    input_cost: cost / 4,
    output_cost: (cost * 3) / 4,
    total_cost: cost,
  },
});
const inThread = (thread_id: string) => ({ extra: { metadata: { thread_id } } });
const of = (thread: string, fields: object = {}, options: { parent?: SampleRun; seconds?: number } = {}) =>
  sampleRun("shown", { ...inThread(thread), outputs: {}, ...fields }, options);

// the model calls' sum, though the root repeats it; the root's own; other runs' sum; none
const calls = of("a");
const repeated = of("b", { outputs: usage(30, 12, 0.42) });
const own = of("c", { outputs: usage(5, 1, 0.06) });
const tools = of("a");
const none = of("d", {}, { seconds: 4 });
const model = (parent: SampleRun, ...numbers: [number, number, number]) =>
  of("a", { run_type: "llm", outputs: usage(...numbers) }, { parent });
await sendRuns(call, [
  ...[calls, repeated, own, tools, none],
  ...[model(calls, 3, 4, 0.5), model(calls, 10, 2, 0.25), model(repeated, 30, 12, 0.42)],
  of("a", { run_type: "tool", outputs: usage(7, 7, 0.07) }, { parent: tools }),
]);
for (const [run, score] of [
  [calls, 1],
  [tools, 0],
  [tools, 0],
  [repeated, 0.5],
] as const)
  await call("POST", "/feedback", { run_id: run.id, key: "good", score });

interface ShownThread {
  thread_id: string;
  max_start_time: string;
  latency_p50: number | null;
  total_tokens: number | null;
  total_cost: number | null;
  feedback_stats: { good?: { avg: number } };
}
type Shown = Record<string, number | null> & { id: string };
const list = async (body: object = {}): Promise<Shown[]> =>
  (await call("POST", "/runs/query", { session: [session_id], ...body })).json.runs;

const SUMS = ["total_tokens", "prompt_tokens", "completion_tokens", "total_cost", "prompt_cost", "completion_cost"];

const OPERATORS = [
  ["gt", (value, edge) => value > edge],
  ["lte", (value, edge) => value <= edge],
  ["eq", (value, edge) => value === edge],
] as [string, (value: number, edge: number) => boolean][];

test.each([true, undefined])(
  "filters on sums select what the column shows (roots: %s)",
  async (is_root) => {
    const all = await list({ is_root });
    for (const name of SUMS) {
      const shown = all.map((run) => [run.id, run[name] === null ? null : Number(run[name])] as const);
      const edges = [...new Set(shown.flatMap(([, value]) => (value === null ? [] : [value])))];
      expect([name, edges.length > 2]).toEqual([name, true]);
      const checks = edges.flatMap((edge) => OPERATORS.map(([op, holds]) => ({ edge, op, holds })));
      await Promise.all(
        checks.map(async ({ edge, op, holds }) => {
          const found = (await list({ is_root, filter: `${op}(${name}, ${edge})` })).map(({ id }) => id);
          const expected = shown.filter(([, value]) => value !== null && holds(value, edge)).map(([id]) => id);
          expect([name, op, edge, found.toSorted()]).toEqual([name, op, edge, expected.toSorted()]);
        }),
      );
    }
  },
  120_000,
);

test("threads are sorted by what their list shows, in both directions and over pages", async () => {
  const group = async (body: object) =>
    (await call("POST", "/runs/group", { session_id, group_by: "conversation", ...body })).json.groups as ShownThread[];
  const shown = await group({});
  expect(shown).toHaveLength(4);
  for (const [order_by, read] of [
    ["start_time", (thread) => Date.parse(thread.max_start_time)],
    ["latency", (thread) => thread.latency_p50],
    ["total_tokens", (thread) => thread.total_tokens],
    ["total_cost", (thread) => thread.total_cost],
    ["feedback:good", (thread) => thread.feedback_stats.good?.avg ?? null],
  ] as [string, (thread: ShownThread) => number | null][]) {
    for (const order of ["asc", "desc"]) {
      const pages = await Promise.all([0, 2].map((offset) => group({ order_by, order, limit: 2, offset })));
      const values = pages.flat().map(read);
      const sign = order === "asc" ? 1 : -1;
      const sorted = shown.map(read).toSorted((a, b) => (a === null ? 1 : b === null ? -1 : sign * (a - b)));
      expect([order_by, order, values]).toEqual([order_by, order, sorted]);
      const sort = { project_id: session_id, page_size: 1, order_by, sort_order: order.toUpperCase() };
      const names: string[] = [];
      for (let cursor: string | undefined; ;) {
        const { json } = await call("POST", "/api/v2/threads/query", { ...sort, cursor });
        names.push(...json.items.map((item: ShownThread) => item.thread_id));
        if (!json.has_more) break;
        cursor = json.next_cursor;
      }
      expect([order_by, order, names]).toEqual([order_by, order, pages.flat().map((thread) => thread.thread_id)]);
    }
  }
  const page = { project_id: session_id, page_size: 1, order_by: "latency" };
  const cursor = (await call("POST", "/api/v2/threads/query", page)).json.next_cursor;
  const rejected = await Promise.all([
    call("POST", "/runs/group", { session_id, group_by: "conversation", order_by: "name" }),
    call("POST", "/api/v2/threads/query", { ...page, order_by: "name" }),
    call("POST", "/api/v2/threads/query", { ...page, order_by: "feedback:" }),
    call("POST", "/api/v2/threads/query", { ...page, order_by: "total_cost", cursor }),
  ]);
  expect(rejected.map(({ status }) => status)).toEqual([422, 422, 422, 400]);
  for (const { text } of rejected.slice(0, 3)) expect(text).toContain("order_by");
});
