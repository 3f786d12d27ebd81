/** Tools that read projects and runs. */
import { z } from "zod";

import * as fields from "./fields.ts";
import { findProject } from "./find.ts";
import { selecting, toQuery } from "./run-selection.ts";
import { shortRun, shortRunSchema, type WireRun, WIRE_FIELDS } from "./short-run.ts";
import { ToolError } from "./tool-error.ts";
import { isSortKey, isThreadSortKey, SORT_KEYS, THREAD_SORT_KEYS } from "../runs/sort-keys.ts";
import { tool, type Tool } from "./tool.ts";

const number = z.number().nullable();

export const RUN_TOOLS: Tool[] = [
  tool({
    name: "list_projects",
    title: "List projects",
    description:
      "Lists tracing projects, the latest active first, with counts, error rates, latencies and costs of their runs. " +
      "Start here: other tools need a project's name.",
    permission: "projects:read",
    input: z.strictObject({
      name_contains: z.string().max(2000).optional(),
      limit: fields.limit(20, 100),
      cursor: fields.cursor,
    }),
    output: z.object({
      projects: z.array(
        z.object({
          id: z.string(),
          name: z.string(),
          description: z.string().nullable(),
          last_run_at: z.string().nullable(),
          run_count: number,
          error_rate: number,
          latency_p50_seconds: number,
          latency_p99_seconds: number,
          total_cost_usd: number,
          feedback: z.unknown(),
        }),
      ),
      next_cursor: fields.nextCursor,
    }),
    async run(api, { name_contains, limit, cursor }) {
      const offset = fields.toOffset(cursor);
      const projects = await api.get<Record<string, unknown>[]>("/api/v1/sessions", {
        name_contains,
        limit,
        offset,
        reference_free: true,
        include_stats: true,
        sort_by: "last_run_start_time",
        sort_by_desc: true,
      });
      return {
        projects: projects.map((each) => ({
          id: String(each["id"]),
          name: String(each["name"]),
          description: (each["description"] ?? null) as string | null,
          last_run_at: (each["last_run_start_time"] ?? null) as string | null,
          run_count: (each["run_count"] ?? null) as number | null,
          error_rate: (each["error_rate"] ?? null) as number | null,
          latency_p50_seconds: (each["latency_p50"] ?? null) as number | null,
          latency_p99_seconds: (each["latency_p99"] ?? null) as number | null,
          total_cost_usd: each["total_cost"] == null ? null : Number(each["total_cost"]),
          feedback: each["feedback_stats"] ?? null,
        })),
        next_cursor: fields.after(offset, projects.length, limit),
      };
    },
  }),
  tool({
    name: "query_runs",
    title: "Query runs",
    description:
      "Finds runs of a project by plain filters, newest first or sorted by a metric. By default only roots, one per " +
      'trace. To find failures: status "error"; slow ones: sort_by "latency"; bad answers: feedback_key and ' +
      "max_feedback_score. Continue with read_trace and a run's trace_id.",
    permission: "runs:read",
    input: z.strictObject({
      ...selecting,
      sort_by: z
        .string()
        .max(300)
        .refine(isSortKey, `must be one of ${SORT_KEYS.join(", ")} and feedback:<key>`)
        .default("start_time")
        .describe(`One of ${SORT_KEYS.join(", ")} and feedback:<key>, the mean score of that feedback.`),
      order: z.enum(["desc", "asc"]).default("desc"),
      max_value_characters: fields.valueCharacters,
      limit: fields.limit(20, 100),
      cursor: fields.cursor,
    }),
    output: z.object({ runs: z.array(shortRunSchema), next_cursor: fields.nextCursor }),
    async run(api, input) {
      const { runs, cursors } = await api.post<{ runs: WireRun[]; cursors: { next: string | null } }>(
        "/api/v1/runs/query",
        {
          ...(await toQuery(api, input)),
          select: WIRE_FIELDS,
          order: input.order,
          ...(input.sort_by !== "start_time" && { order_by: input.sort_by }),
          limit: input.limit,
          cursor: input.cursor,
        },
      );
      return { runs: runs.map((run) => shortRun(run, input.max_value_characters)), next_cursor: cursors.next };
    },
  }),
  tool({
    name: "get_run_statistics",
    title: "Get statistics of runs",
    description:
      "Counts runs and computes error rate, latency percentiles, tokens, cost and feedback of a selection, in total or " +
      "by group. To compare periods, call it once per period. Averages and counts of scores are in feedback_stats.",
    permission: "runs:read",
    input: z.strictObject({
      ...selecting,
      group_by: z.enum(["name", "run_type", "tag", "metadata", "error_kind"]).optional(),
      metadata_key: z.string().min(1).max(250).optional().describe("Key to group by, with group_by metadata."),
      max_groups: z.int().min(1).max(100).default(10),
    }),
    output: z.object({ groups: z.record(z.string(), z.looseObject({})).describe('The total has the name "all".') }),
    async run(api, input) {
      const { group_by: attribute, metadata_key: path, max_groups } = input;
      if (attribute === "metadata" && path === undefined)
        throw new ToolError("group_by metadata needs metadata_key: the key to group by.");
      const answer = await api.post<Record<string, object>>("/api/v1/runs/stats", {
        ...(await toQuery(api, input)),
        ...(attribute && { group_by: { attribute, path, max_groups } }),
      });
      return { groups: (attribute ? answer : { all: answer }) as Record<string, Record<string, unknown>> };
    },
  }),
  tool({
    name: "read_run_field",
    title: "Read a field of a run",
    description:
      "Reads one field of a run in full, as text, in pieces: where another tool has cut a value. `path` selects a part " +
      "of it, such as messages.0.content.",
    permission: "runs:read",
    input: z.strictObject({
      run_id: fields.uuid,
      field: z.enum(["inputs", "outputs", "error", "events", "extra", "serialized"]),
      path: z.string().min(1).max(1000).optional().describe("Keys and positions, separated by dots."),
      offset: z.int().min(0).default(0).describe("Character to begin at; next_offset of the piece before."),
      max_characters: z.int().min(1).max(200_000).default(20_000),
    }),
    output: z.object({
      text: z.string().describe("JSON, or the text itself for a text."),
      total_characters: z.int(),
      next_offset: z.int().nullable(),
    }),
    async run(api, { run_id, field, path, offset, max_characters }) {
      const { runs } = await api.post<{ runs: Record<string, unknown>[] }>("/api/v1/runs/query", {
        id: [run_id],
        select: [field],
        limit: 1,
      });
      if (!runs[0]) throw new ToolError(`There is no run ${run_id}. query_runs finds runs.`);
      const value = path === undefined ? runs[0][field] : partAt(runs[0][field], path);
      const text = typeof value === "string" ? value : JSON.stringify(value ?? null);
      const piece = text.slice(offset, offset + max_characters);
      const end = offset + piece.length;
      return { text: piece, total_characters: text.length, next_offset: end < text.length ? end : null };
    },
  }),
  tool({
    name: "list_threads",
    title: "List threads",
    description:
      "Lists the threads (conversations) of a project, latest turn first or sorted by a metric. Continue with read_thread.",
    permission: "runs:read",
    input: z.strictObject({
      project: fields.project,
      since: fields.time.optional(),
      until: fields.time.optional(),
      filter: z.string().max(65_536).optional().describe("Expression of the filter language that a turn must match."),
      sort_by: z
        .string()
        .max(300)
        .refine(isThreadSortKey, `must be ${THREAD_SORT_KEYS}`)
        .default("start_time")
        .describe(
          `${THREAD_SORT_KEYS}: the latest turn, the median latency of the turns, the sums of their traces, the mean of their scores.`,
        ),
      order: z.enum(["desc", "asc"]).default("desc"),
      max_value_characters: fields.valueCharacters,
      limit: fields.limit(20, 100),
      cursor: fields.cursor,
    }),
    output: z.object({ threads: z.array(z.looseObject({ thread_id: z.string() })), next_cursor: fields.nextCursor }),
    async run(api, input) {
      const page = await api.post<{ items: Record<string, unknown>[]; next_cursor?: string }>("/api/v2/threads/query", {
        project_id: await findProject(api, input.project),
        min_start_time: fields.toTime(input.since),
        max_start_time: fields.toTime(input.until),
        filter: input.filter,
        order_by: input.sort_by,
        sort_order: input.order.toUpperCase(),
        page_size: input.limit,
        cursor: input.cursor,
      });
      const threads = page.items.map((item) => ({
        ...clipTexts(item, input.max_value_characters),
        thread_id: String(item["thread_id"]),
      }));
      return { threads, next_cursor: page.next_cursor ?? null };
    },
  }),
  tool({
    name: "read_thread",
    title: "Read a thread",
    description: "Reads the turns of a thread, oldest first: inputs, outputs, errors, latencies and costs.",
    permission: "runs:read",
    input: z.strictObject({
      project: fields.project,
      thread_id: z.string().min(1).max(2000),
      max_value_characters: fields.valueCharacters.default(2000),
      limit: fields.limit(20, 100),
      cursor: fields.cursor,
    }),
    output: z.object({ turns: z.array(z.looseObject({ trace_id: z.string() })), next_cursor: fields.nextCursor }),
    async run(api, { project, thread_id, max_value_characters: max, limit, cursor }) {
      const page = await api.get<{ items: Record<string, unknown>[]; next_cursor?: string }>(
        `/api/v2/threads/${encodeURIComponent(thread_id)}/traces`,
        {
          project_id: await findProject(api, project),
          selects: [
            "NAME",
            "START_TIME",
            "END_TIME",
            "LATENCY",
            "INPUTS",
            "OUTPUTS",
            "ERROR",
            "TOTAL_TOKENS",
            "TOTAL_COST",
          ],
          page_size: limit,
          cursor,
        },
      );
      if (page.items.length === 0 && cursor === undefined)
        throw new ToolError(`The project has no thread "${thread_id}". list_threads lists its threads.`);
      const turns = page.items.map((item) => ({
        ...item,
        trace_id: String(item["trace_id"]),
        inputs: fields.clip(item["inputs"], max).value,
        outputs: fields.clip(item["outputs"], max).value,
        error: fields.clip(item["error"], max).value,
      }));
      return { turns, next_cursor: page.next_cursor ?? null };
    },
  }),
];

/** Follows a path of keys and positions. @throws ToolError that names the keys at the place where it ends */
function partAt(value: unknown, path: string): unknown {
  let part = value;
  for (const key of path.split(".")) {
    if (part === null || typeof part !== "object" || !Object.hasOwn(part, key)) {
      const keys = part !== null && typeof part === "object" ? Object.keys(part).slice(0, 50).join(", ") : "none";
      throw new ToolError(`There is no "${key}" of the path ${path}. Keys at this place: ${keys}.`);
    }
    part = (part as Record<string, unknown>)[key];
  }
  return part;
}

/** Cuts the texts of an object. */
function clipTexts(item: Record<string, unknown>, max: number): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(item).map(([key, value]) => [
      key,
      typeof value === "string" ? fields.clip(value, Math.max(max, 64)).value : value,
    ]),
  );
}
