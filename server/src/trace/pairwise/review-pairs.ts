/**
 * Review of two experiments pair by pair. A judgement is comparative feedback as evaluate_comparative() of the SDKs
 * stores it: a score on each of both runs (1 and 0, or 0.5 each), with the comparison's id and one group id. Its ids
 * derive from comparison, example, reviewer and run, so that judging again replaces the judgement.
 */
import { createHash } from "node:crypto";

import type { Principal } from "../../base/auth/principal.ts";
import { notFound, unprocessable } from "../../base/errors.ts";
import { uuid5 } from "../../base/ids.ts";
import { parseJson } from "../../base/json-structure.ts";
import type { TraceDeps } from "../deps.ts";
import { experimentRuns } from "../experiments/experiment-runs.ts";
import { readValues, type Values } from "../experiments/experiment-values.ts";
import { createFeedback } from "../feedback/create-feedback.ts";
import type { FeedbackCreate } from "../feedback/schema.ts";
import type { SerializationContext } from "../runs/run-fields.ts";
import { RunScope } from "../runs/run-scope.ts";
import { planV1 } from "../runs/serialize-v1.ts";
import { DEFAULT_KEY, type Pair, type Review } from "./schema.ts";
import { type ComparisonRow, deletePreferences, findComparison, type PreferenceRow, readPreferences } from "./sql.ts";

export interface LoadedReview {
  review: Review;
  /** Examples that both experiments have, with the first run of each. */
  pairs: Map<string, [string, string]>;
}

/** @throws 404 without such a comparison, 422 for one of more than two experiments */
export async function loadReview(deps: TraceDeps, tenantId: string, id: string): Promise<LoadedReview> {
  const row = await findComparison(deps.sql, tenantId, id);
  if (!row) throw notFound("Comparison not found");
  if (row.experiment_ids.length !== 2) {
    throw unprocessable(`Comparison ${id} has ${row.experiment_ids.length} experiments. Pairs need exactly two.`);
  }
  const values = await readValues(deps, tenantId, {
    datasetId: row.dataset_id,
    experiments: row.experiment_ids,
    keys: [],
  });
  return { review: toReview(row), pairs: pairUp(values) };
}

export function toReview({ id, name, dataset_id, experiment_ids, extra }: ComparisonRow): Review {
  const own = (extra?.["heddle"] ?? {}) as { key?: unknown; instructions?: unknown };
  const key = typeof own.key === "string" ? own.key : DEFAULT_KEY;
  const instructions = typeof own.instructions === "string" ? own.instructions : null;
  return { id, name, dataset_id, experiment_ids, key, instructions };
}

function pairUp({ examples, experiments: [first, second] }: Values): Map<string, [string, string]> {
  return new Map(
    examples.flatMap((example, place) => {
      const [a, b] = [first!.firstRun[place], second!.firstRun[place]];
      return a !== undefined && b !== undefined ? [[example, [a, b]] as const] : [];
    }),
  );
}

/** Identifies the reviewer; callers without a user, on a server without keys, are one reviewer. */
const reviewerOf = (principal: Principal): string => principal.actor.userId ?? "local";

/** Returns the caller's judgements by example. */
function ownJudgements(
  { review, pairs }: LoadedReview,
  preferences: PreferenceRow[],
  reviewer: string,
): Map<string, { preferred: string; comment: string | null }> {
  const own = preferences.filter((row) => row.kind === "person" && row.reviewer === reviewer && row.key === review.key);
  const byRun = new Map(own.map((row) => [row.run_id, row]));
  const found = new Map<string, { preferred: string; comment: string | null }>();
  for (const [example, [a, b]] of pairs) {
    const [left, right] = [byRun.get(a), byRun.get(b)];
    if (!left || !right) continue;
    const preferred = left.score === right.score ? "tie" : left.score > right.score ? a : b;
    found.set(example, { preferred, comment: left.comment });
  }
  return found;
}

export interface PairsPage {
  items: Pair[];
  total: number;
  judged: number;
}

/** Lists pairs with their whole texts. Each reviewer sees the runs in their own order, always the same. */
export async function listPairs(
  deps: TraceDeps,
  principal: Principal,
  comparisonId: string,
  query: { status: "open" | "judged" | "all"; example_id?: string | undefined; limit: number },
  context: SerializationContext,
): Promise<PairsPage> {
  const tenantId = principal.workspaceId;
  const loaded = await loadReview(deps, tenantId, comparisonId);
  const reviewer = reviewerOf(principal);
  const judgements = ownJudgements(loaded, await readPreferences(deps.sql, tenantId, comparisonId), reviewer);
  const { review, pairs } = loaded;
  const wanted = (example: string) => {
    if (query.example_id !== undefined) return example === query.example_id;
    return query.status === "all" || (query.status === "judged") === judgements.has(example);
  };
  // in an order of the reviewer's own, so that several who stop early cover different examples
  const places = new Map(Array.from(pairs.keys(), (example) => [example, digest(comparisonId, reviewer, example)]));
  const examples = [...pairs.keys()]
    .filter(wanted)
    .toSorted((a, b) => (places.get(a)! < places.get(b)! ? -1 : 1))
    .slice(0, query.limit);
  const plan = planV1(["outputs", "error"]);
  const page = { experiments: review.experiment_ids, examples, limit: Math.max(1, examples.length), offset: 0 };
  const order = { plan, context };
  const rows =
    examples.length === 0 ? [] : await experimentRuns(deps, RunScope.of(principal), review.dataset_id, page, order);
  const items = rows.map(({ example, runs }): Pair => {
    type Example = { id: string; inputs: Record<string, unknown>; outputs: Record<string, unknown> | null };
    type Run = { id: string; session_id: string; outputs: unknown; error: string | null };
    const { id, inputs, outputs } = parseJson(example.item) as Example;
    const both = pairs.get(id)!;
    const shown = isSwapped(comparisonId, reviewer, id) ? both.toReversed() : both;
    const parsed = new Map(
      runs.map((text) => {
        const run = parseJson(text) as Run;
        return [run.id, run];
      }),
    );
    const judgement = judgements.get(id);
    return {
      example_id: id,
      inputs,
      reference_outputs: outputs,
      runs: shown.map((run_id) => ({
        run_id,
        experiment_id: review.experiment_ids[both.indexOf(run_id)]!,
        outputs: parsed.get(run_id)?.outputs ?? null,
        error: parsed.get(run_id)?.error ?? null,
      })),
      preferred: judgement?.preferred ?? null,
      comment: judgement?.comment ?? null,
    };
  });
  const inOrder = items.toSorted((a, b) => examples.indexOf(a.example_id) - examples.indexOf(b.example_id));
  return { items: inOrder, total: pairs.size, judged: judgements.size };
}

const digest = (...parts: string[]): string => createHash("sha256").update(parts.join(" ")).digest("hex");

export const isSwapped = (...parts: [string, string, string]): boolean =>
  Number.parseInt(digest("side", ...parts)[0]!, 16) >= 8;

/** Stores the caller's judgement on a pair. @throws 404 for an example without a pair, 422 for a run outside of it */
export async function judgePair(
  deps: TraceDeps,
  principal: Principal,
  comparisonId: string,
  exampleId: string,
  { preferred, comment }: { preferred: string | null; comment?: string | null | undefined },
): Promise<void> {
  const { review, pairs } = await loadReview(deps, principal.workspaceId, comparisonId);
  const both = pairs.get(exampleId);
  if (!both) throw notFound("Both experiments need a run of the example. This pair was not found");
  if (preferred !== null && !both.includes(preferred)) throw unprocessable("preferred: must be a run of the pair.");
  const ids = judgementIds(comparisonId, exampleId, principal);
  const feedback = both.map(
    (run_id, i) =>
      ({
        id: ids[i]!,
        key: review.key,
        run_id,
        session_id: review.experiment_ids[i]!,
        score: preferred === null ? 0.5 : Number(run_id === preferred),
        value: null,
        comment: comment ?? null,
        correction: null,
        feedback_source: { type: "app" },
        comparative_experiment_id: comparisonId,
        feedback_group_id: ids[2]!,
      }) satisfies FeedbackCreate,
  );
  await createFeedback(deps, { tenantId: principal.workspaceId, userId: principal.actor.userId }, feedback);
}

/** Takes back the caller's judgement on a pair. @throws 404 without one */
export async function undoJudgement(
  deps: TraceDeps,
  principal: Principal,
  comparisonId: string,
  exampleId: string,
): Promise<void> {
  const [first, second] = judgementIds(comparisonId, exampleId, principal);
  const deleted = await deletePreferences(deps.sql, principal.workspaceId, comparisonId, [first, second]);
  if (deleted === 0) throw notFound("You have not judged this pair");
  await deps.feedback.flush();
}

/** Ids of the feedback on both runs, and of their group. */
function judgementIds(comparisonId: string, exampleId: string, principal: Principal): [string, string, string] {
  const name = (part: string) => uuid5(`${exampleId} ${reviewerOf(principal)} ${part}`, comparisonId);
  return [name("first"), name("second"), name("group")];
}
