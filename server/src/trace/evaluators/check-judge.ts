import type { Principal } from "../../base/auth/principal.ts";
import { forbidden } from "../../base/errors.ts";
import type { TraceDeps } from "../deps.ts";
import type { ModelConfiguration } from "../models/message-schema.ts";
import { checkDefinition } from "./check-definition.ts";
import { evaluateOnce } from "./evaluate.ts";
import { inParallel } from "../../base/in-parallel.ts";
import type { Labelled } from "./library-entry.ts";
import { findJudge, judgeDefinition } from "./library.ts";
import { measureAlignment, type Rating } from "./measure-alignment.ts";
import type { EvaluatedRun, Score } from "./schema.ts";
import { sumUsd } from "./sum-usd.ts";

const AT_ONCE = 4;

/** Measures a judge of the library on its labelled set by a model. @throws 404, 422, 424 */
export async function checkJudge(
  deps: TraceDeps,
  principal: Principal,
  { libraryId, model }: { libraryId: string; model: ModelConfiguration },
  signal: AbortSignal,
) {
  if (!principal.permissions.has("models:call")) {
    throw forbidden("Forbidden: the permission models:call is required to check a judge.");
  }
  const entry = findJudge(libraryId);
  const { definition } = await checkDefinition(deps, principal, judgeDefinition(entry, model));
  const examples = await inParallel(entry.labels, AT_ONCE, async ([values, label], i) => {
    const subject = { kind: entry.subject, run: blankRun(`${entry.id} ${i + 1}`) };
    const options = { signal, evaluatorId: null, metadata: { heddle_check: entry.id, example: i + 1 }, values };
    const { feedback, error, cost_usd, judge_run_id } = await evaluateOnce(
      deps,
      principal,
      { name: entry.name, definition },
      subject,
      options,
    );
    return { values, label, given: feedback[0] ?? null, error, cost_usd, judge_run_id };
  });
  const pairs = examples.flatMap(({ given, label }, i) =>
    given === null ? [] : [{ id: String(i), judge: judged(given), person: labelled(label, entry.score.choices ?? []) }],
  );
  const costs = examples.map((example) => example.cost_usd);
  return {
    library_id: entry.id,
    name: entry.name,
    feedback_key: entry.score.key,
    ...measureAlignment(pairs),
    errors: examples.length - pairs.length,
    cost_usd: sumUsd(costs),
    examples: examples.map(({ given, ...example }) => ({
      ...example,
      given: given && shown(given),
      comment: given?.comment ?? null,
    })),
  };
}

const shown = ({ score, value }: Score) => value ?? score;

const judged = ({ score, value }: Score): Rating => ({ score: score === null ? null : Number(score), value });

function labelled(
  label: Labelled[1],
  choices: readonly { label: string; score?: number | null | undefined }[],
): Rating {
  if (typeof label !== "string") return { score: Number(label), value: null };
  return { score: choices.find((choice) => choice.label === label)?.score ?? null, value: label };
}

/** A run that stands for an example, whose values are given. */
const blankRun = (name: string): EvaluatedRun => ({
  id: name,
  trace_id: name,
  project_id: "",
  name,
  run_type: "chain",
  start_time: "1970-01-01T00:00:00Z",
  end_time: null,
  error: null,
  inputs: null,
  outputs: null,
  metadata: {},
  tags: [],
  thread_id: null,
  reference_example_id: null,
  parent_run_id: null,
  total_tokens: null,
  total_cost: null,
});
