/** Tools that read whole traces, and compare runs. */
import { z } from "zod";

import * as fields from "./fields.ts";
import type { PlatformApi } from "./platform-api.ts";
import { latencyOf, shortRun, shortRunSchema, type WireRun, WIRE_FIELDS } from "./short-run.ts";
import { ToolError } from "./tool-error.ts";
import { tool, type Tool } from "./tool.ts";

/** Runs whose values are read at once. */
const CHUNK = 25;
/** Estimated characters of a run besides its values. */
const OVERHEAD = 220;

const OUTLINE = "id name run_type status start_time end_time dotted_order parent_run_id trace_id".split(" ");

export const TRACE_TOOLS: Tool[] = [
  tool({
    name: "read_trace",
    title: "Read a trace",
    description:
      "Reads the tree of runs of a trace, parents before children, with cut inputs and outputs. Stops at " +
      "max_characters; next_cursor goes on. For an overview of a large trace set max_value_characters to 0, or " +
      "errors_only to true.",
    permission: "runs:read",
    input: z.strictObject({
      trace_id: fields.uuid,
      errors_only: z.boolean().default(false).describe("Only runs that failed."),
      max_value_characters: fields.valueCharacters,
      max_characters: z.int().min(1000).max(500_000).default(30_000).describe("Approximate length of the answer."),
      cursor: fields.cursor,
    }),
    output: z.object({
      trace_id: z.string(),
      run_count: z.int(),
      runs: z.array(shortRunSchema.extend({ depth: z.int(), parent_run_id: z.string().nullable() })),
      next_cursor: fields.nextCursor,
    }),
    async run(api, input) {
      const { trace_id, max_value_characters: max } = input;
      const outline = await readOutline(api, trace_id, input.errors_only);
      if (outline.length === 0 && !input.errors_only)
        throw new ToolError(`There is no trace ${trace_id}. query_runs returns the trace_id of each run.`);
      const runs = [];
      let left = input.max_characters;
      let position = fields.toOffset(input.cursor);
      while (position < outline.length && left > 0) {
        const fitting = Math.max(1, Math.ceil(left / (OVERHEAD + 2 * max)));
        const chunk = outline.slice(position, position + Math.min(CHUNK, fitting));
        const full = await readRuns(
          api,
          chunk.map(({ id }) => id),
        );
        for (const { id, dotted_order, parent_run_id } of chunk) {
          const run = full.get(id);
          position++;
          // deleted meanwhile
          if (!run) continue;
          const depth = dotted_order.split(".").length - 1;
          const node = { ...shortRun(run, max), depth, parent_run_id: parent_run_id ?? null };
          left -= JSON.stringify(node).length;
          runs.push(node);
          if (left <= 0) break;
        }
      }
      const next_cursor = position < outline.length ? String(position) : null;
      return { trace_id, run_count: outline.length, runs, next_cursor };
    },
  }),
  tool({
    name: "compare_runs",
    title: "Compare runs",
    description:
      "Compares two to five runs, such as a good and a bad one: status, latency, tokens, cost, feedback, and the paths " +
      "at which inputs, outputs and metadata differ from the first run. Traces are compared by their roots' ids.",
    permission: "runs:read",
    input: z.strictObject({
      run_ids: z.array(fields.uuid).min(2).max(5),
      max_differences: z.int().min(1).max(500).default(30),
      max_value_characters: fields.valueCharacters.default(300),
    }),
    output: z.object({
      runs: z.array(
        z.object({
          id: z.string(),
          name: z.string(),
          status: z.string(),
          latency_seconds: z.number().nullable(),
          total_tokens: z.number().nullable(),
          total_cost_usd: z.number().nullable(),
          feedback: z.unknown(),
        }),
      ),
      differences: z.array(
        z.object({ path: z.string(), values: z.array(z.unknown()).describe("By run; null where it has none.") }),
      ),
      more_differences: z.int(),
    }),
    async run(api, { run_ids, max_differences, max_value_characters: max }) {
      const found = await readRuns(api, run_ids);
      const missing = run_ids.find((id) => !found.has(id));
      if (missing !== undefined) throw new ToolError(`There is no run ${missing}. query_runs finds runs.`);
      const runs = run_ids.map((id) => found.get(id)!);
      const flat = runs.map(({ name, error, inputs, outputs, extra, tags }) =>
        flatten({ name, error: error ?? null, inputs, outputs, metadata: extra?.metadata ?? {}, tags: tags ?? [] }),
      );
      const paths = [...new Set(flat.flatMap((values) => [...values.keys()]))];
      const differing = paths.filter((path) => flat.some((values) => values.get(path) !== flat[0]!.get(path)));
      return {
        runs: runs.map((run) => ({
          id: run.id,
          name: run.name,
          status: run.status,
          latency_seconds: latencyOf(run),
          total_tokens: run.total_tokens ?? null,
          total_cost_usd: run.total_cost == null ? null : Number(run.total_cost),
          feedback: run.feedback_stats ?? {},
        })),
        differences: differing.slice(0, max_differences).map((path) => ({
          path,
          values: flat.map((values) => fields.clip(values.get(path) ?? null, max).value),
        })),
        more_differences: Math.max(0, differing.length - max_differences),
      };
    },
  }),
];

/** Reads the runs of a trace without values, in the order of the tree. */
async function readOutline(api: PlatformApi, trace: string, errorsOnly: boolean): Promise<WireRun[]> {
  // a trace is returned whole
  const { runs } = await api.post<{ runs: WireRun[] }>("/api/v1/runs/query", {
    trace,
    select: OUTLINE,
    ...(errorsOnly && { error: true }),
  });
  return runs.sort((a, b) => (a.dotted_order < b.dotted_order ? -1 : 1));
}

async function readRuns(api: PlatformApi, ids: string[]): Promise<Map<string, WireRun>> {
  const found = new Map<string, WireRun>();
  // pages end at a number of bytes, too
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page: { runs: WireRun[]; cursors: { next: string | null } } = await api.post("/api/v1/runs/query", {
      id: ids,
      select: WIRE_FIELDS,
      limit: 100,
      ...(cursor !== undefined && { cursor }),
    });
    for (const run of page.runs) found.set(run.id, run);
    cursor = page.cursors.next;
  }
  return found;
}

const MAX_PATHS = 5000;

/** Returns the leaves of a value by path. */
function flatten(root: object): Map<string, unknown> {
  const leaves = new Map<string, unknown>();
  const waiting: [string, unknown][] = Object.entries(root).toReversed();
  while (waiting.length > 0 && leaves.size < MAX_PATHS) {
    const [path, value] = waiting.pop()!;
    if (value !== null && typeof value === "object" && Object.keys(value).length > 0) {
      for (const [key, part] of Object.entries(value).toReversed()) waiting.push([`${path}.${key}`, part]);
    } else leaves.set(path, value !== null && typeof value === "object" ? JSON.stringify(value) : value);
  }
  return leaves;
}
