/** Tools over datasets, examples and experiments. */
import { z } from "zod";

import * as fields from "./fields.ts";
import { findDataset, findProject } from "./find.ts";
import { ToolError } from "./tool-error.ts";
import { tool, type Tool } from "./tool.ts";

const object = z.record(z.string(), z.unknown());
const nullableText = z.string().nullable();

type Row = Record<string, unknown>;

export const DATASET_TOOLS: Tool[] = [
  tool({
    name: "list_datasets",
    title: "List datasets",
    description: "Lists datasets of examples, with the numbers of their examples and experiments.",
    permission: "datasets:read",
    input: z.strictObject({
      name_contains: z.string().max(2000).optional(),
      limit: fields.limit(20, 100),
      cursor: fields.cursor,
    }),
    output: z.object({
      datasets: z.array(
        z.object({
          id: z.string(),
          name: z.string(),
          description: nullableText,
          example_count: z.int().nullable(),
          experiment_count: z.int().nullable(),
          created_at: z.string(),
        }),
      ),
      next_cursor: fields.nextCursor,
    }),
    async run(api, { name_contains, limit, cursor }) {
      const offset = fields.toOffset(cursor);
      const datasets = await api.get<Row[]>("/api/v1/datasets", { name_contains, limit, offset });
      return {
        datasets: datasets.map((each) => ({
          id: String(each["id"]),
          name: String(each["name"]),
          description: each["description"] as string | null,
          example_count: (each["example_count"] ?? null) as number | null,
          experiment_count: (each["session_count"] ?? null) as number | null,
          created_at: String(each["created_at"]),
        })),
        next_cursor: fields.after(offset, datasets.length, limit),
      };
    },
  }),
  tool({
    name: "list_examples",
    title: "List examples",
    description:
      "Lists examples of a dataset: inputs, reference outputs, metadata and the run that each was taken from.",
    permission: "datasets:read",
    input: z.strictObject({
      dataset: fields.dataset,
      text: z.string().min(1).max(1000).optional().describe("Text that the example contains."),
      splits: z.array(z.string().min(1)).max(20).optional(),
      as_of: z.string().max(200).optional().describe("Version: a time, a tag or latest."),
      max_value_characters: fields.valueCharacters.default(2000),
      limit: fields.limit(20, 100),
      cursor: fields.cursor,
    }),
    output: z.object({
      examples: z.array(
        z.object({
          id: z.string(),
          inputs: z.unknown(),
          outputs: z.unknown(),
          metadata: z.unknown(),
          source_run_id: nullableText,
          created_at: z.string(),
        }),
      ),
      next_cursor: fields.nextCursor,
    }),
    async run(api, { dataset, text, splits, as_of, max_value_characters: max, limit, cursor }) {
      const offset = fields.toOffset(cursor);
      const examples = await api.get<Row[]>("/api/v1/examples", {
        dataset: await findDataset(api, dataset),
        full_text_contains: text,
        splits,
        as_of,
        limit,
        offset,
      });
      return {
        examples: examples.map((each) => ({
          id: String(each["id"]),
          inputs: fields.clip(each["inputs"], max).value,
          outputs: fields.clip(each["outputs"], max).value,
          metadata: fields.clip(each["metadata"], max).value,
          source_run_id: (each["source_run_id"] ?? null) as string | null,
          created_at: String(each["created_at"]),
        })),
        next_cursor: fields.after(offset, examples.length, limit),
      };
    },
  }),
  tool({
    name: "list_experiments",
    title: "List experiments",
    description:
      "Lists experiments on a dataset, newest first, with scores, error rates, latencies and costs. Continue with " +
      "compare_experiments.",
    permission: "projects:read",
    input: z.strictObject({ dataset: fields.dataset, limit: fields.limit(20, 100), cursor: fields.cursor }),
    output: z.object({
      experiments: z.array(
        z.object({
          id: z.string(),
          name: z.string(),
          description: nullableText,
          started_at: z.string(),
          run_count: z.number().nullable(),
          error_rate: z.number().nullable(),
          latency_p50_seconds: z.number().nullable(),
          total_cost_usd: z.number().nullable(),
          scores: z.unknown().describe("By feedback key: count, average and distribution."),
          metadata: z.unknown(),
        }),
      ),
      next_cursor: fields.nextCursor,
    }),
    async run(api, { dataset, limit, cursor }) {
      const offset = fields.toOffset(cursor);
      const experiments = await api.get<Row[]>("/api/v1/sessions", {
        reference_dataset: await findDataset(api, dataset),
        include_stats: true,
        sort_by: "start_time",
        sort_by_desc: true,
        limit,
        offset,
      });
      return {
        experiments: experiments.map((each) => ({
          id: String(each["id"]),
          name: String(each["name"]),
          description: (each["description"] ?? null) as string | null,
          started_at: String(each["start_time"]),
          run_count: (each["run_count"] ?? null) as number | null,
          error_rate: (each["error_rate"] ?? null) as number | null,
          latency_p50_seconds: (each["latency_p50"] ?? null) as number | null,
          total_cost_usd: each["total_cost"] == null ? null : Number(each["total_cost"]),
          scores: each["feedback_stats"] ?? {},
          metadata: (each["extra"] as { metadata?: unknown } | null)?.metadata ?? {},
        })),
        next_cursor: fields.after(offset, experiments.length, limit),
      };
    },
  }),
  tool({
    name: "compare_experiments",
    title: "Compare experiments",
    description:
      "Compares experiments on a dataset with a baseline: averages with confidence intervals, paired differences with " +
      "a verdict, and examples, the worst regressions first. With one experiment it reads that one alone.",
    permission: "datasets:read",
    input: z.strictObject({
      dataset: fields.dataset,
      experiments: z.array(z.string().min(1).max(2000)).min(1).max(10).describe("Names or ids."),
      baseline: z.string().min(1).max(2000).optional().describe("Name or id; by default the dataset's baseline."),
      limit: fields.limit(10, 100).describe("Examples per page."),
      cursor: fields.cursor,
    }),
    output: z.looseObject({}),
    async run(api, { dataset, experiments, baseline, limit, cursor }) {
      const id = await findDataset(api, dataset);
      const ids = [];
      for (const each of experiments) ids.push(await findProject(api, each));
      return api.post<Row>(`/api/v1/datasets/${id}/experiments/compare`, {
        experiments: ids,
        ...(baseline !== undefined && { baseline: await findProject(api, baseline) }),
        ...(cursor !== undefined && { cursor }),
        limit,
      });
    },
  }),
  tool({
    name: "create_dataset",
    title: "Create a dataset",
    description: "Creates an empty dataset. Fill it with add_examples.",
    permission: "datasets:create",
    writes: { repeatable: false },
    input: z.strictObject({ name: z.string().min(1).max(512), description: z.string().max(10_000).optional() }),
    output: z.object({ id: z.string(), name: z.string() }),
    async run(api, body) {
      const { id, name } = await api.post<{ id: string; name: string }>("/api/v1/datasets", body);
      return { id, name };
    },
  }),
  tool({
    name: "add_examples",
    title: "Add examples",
    description:
      "Adds examples to a dataset, all or none: with inputs and reference outputs, or with source_run_id alone to take " +
      "both from a run, such as one that failed; outputs given beside it are the correction.",
    permission: "datasets:create",
    writes: { repeatable: false },
    input: z.strictObject({
      dataset: fields.dataset,
      examples: z
        .array(
          z.strictObject({
            inputs: object.optional(),
            outputs: object.optional(),
            metadata: object.optional(),
            split: z.string().min(1).max(200).optional(),
            source_run_id: fields.uuid.optional(),
          }),
        )
        .min(1)
        .max(100),
    }),
    output: z.object({ dataset_id: z.string(), example_ids: z.array(z.string()) }),
    async run(api, { dataset, examples }) {
      const empty = examples.findIndex(({ inputs, source_run_id }) => !inputs && source_run_id === undefined);
      if (empty !== -1) throw new ToolError(`examples.${empty} needs inputs, or the source_run_id to take them from.`);
      const dataset_id = await findDataset(api, dataset);
      const created = [];
      for (const { inputs, outputs, source_run_id, ...rest } of examples)
        created.push({
          ...rest,
          dataset_id,
          ...(source_run_id !== undefined && { source_run_id }),
          ...(inputs === undefined ? { use_source_run_io: true } : { inputs }),
          ...(outputs !== undefined && { outputs }),
        });
      const answer = await api.post<{ id: string }[]>("/api/v1/examples/bulk", created);
      return { dataset_id, example_ids: answer.map(({ id }) => id) };
    },
  }),
];
