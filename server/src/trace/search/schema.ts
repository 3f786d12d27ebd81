import { z } from "zod";

import { queryLimit, storableText, uuid } from "../../base/http/fields.ts";

/** Own to Heddle: one search over everything with a name, and over runs by id and content. */

export const KINDS = [
  "project",
  "experiment",
  "dataset",
  "prompt",
  "view",
  "annotation_queue",
  "evaluator",
  "rule",
  "trace",
  "run",
  "thread",
] as const;
export type Kind = (typeof KINDS)[number];

/** Results of each kind, at most. */
const MAX_RESULTS = 20;

export const searchQuery = z.object({
  q: storableText.trim().min(1).max(500),
  limit: queryLimit(5, MAX_RESULTS),
});

export const result = z.object({
  /** Of a thread any text. */
  id: z.string(),
  name: z.string(),
  /** Project of a run, a trace, a thread or a view. */
  project_id: uuid.nullable(),
  project_name: z.string().nullable(),
  /** Start of a run, latest change of other things. */
  at: z.string().nullable(),
});
export type Result = z.output<typeof result>;

export const answer = z.object({
  groups: z.array(z.object({ kind: z.enum(KINDS), results: z.array(result) })),
  /** Contents of runs were searched back to this time, newest first; null: all of them, or none was searched. */
  content_searched_since: z.string().nullable(),
  /** Kinds that were not searched completely, because it took too long. */
  incomplete: z.array(z.enum(KINDS)),
});
