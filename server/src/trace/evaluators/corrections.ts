import type { TraceDeps } from "../deps.ts";
import { listExamples } from "../examples/sql.ts";
import { bindVariables, delimit } from "./bind-variables.ts";
import type { LlmDefinition } from "./definition.ts";
import type { PreparedJudge } from "./prepare-judge.ts";
import { readEvaluatedRuns } from "./read-evaluated-runs.ts";
import { findCorrections } from "./sql.ts";
import { shorten } from "./shorten.ts";

/** Characters of a variable of an example. */
const MAX_VALUE = 4000;

interface Example {
  values: Record<string, unknown>;
  scores: unknown;
}

/**
 * Returns the examples of a judge: judgements of it that people corrected, or the examples of its dataset, whose inputs
 * are the prompt's variables and whose outputs the right scores. Null when it has none.
 */
export async function correctionMessage(
  deps: Pick<TraceDeps, "sql" | "clickhouse">,
  tenantId: string,
  order: { definition: LlmDefinition; prepared: PreparedJudge; evaluatorId: string | null; mark: string },
): Promise<string | null> {
  const { definition, prepared, evaluatorId, mark } = order;
  const { few_shot: wanted } = definition;
  if (wanted === null) return null;
  const examples =
    wanted.dataset_id === null
      ? evaluatorId === null
        ? []
        : await correctedJudgements(deps, tenantId, evaluatorId, prepared, wanted.count)
      : await datasetExamples(deps, tenantId, wanted.dataset_id, wanted.count);
  if (examples.length === 0) return null;
  const texts = examples.map(({ values, scores }, i) => {
    const shown = Object.entries(values).map(([name, value]) =>
      delimit(name, shorten(typeof value === "string" ? value : JSON.stringify(value ?? null), MAX_VALUE), mark),
    );
    return `Example ${i + 1}:${shown.join("")}Right scores: ${shorten(JSON.stringify(scores), MAX_VALUE)}`;
  });
  return `People corrected these judgements. Score in the same way.\n\n${texts.join("\n\n")}`;
}

async function datasetExamples(
  { sql }: Pick<TraceDeps, "sql">,
  tenantId: string,
  datasetId: string,
  count: number,
): Promise<Example[]> {
  const found = await listExamples(
    sql,
    tenantId,
    { dataset: datasetId, as_of: "latest" },
    { order: "recent", descending: undefined, select: undefined, limit: count, offset: 0 },
  );
  return found.flatMap(({ item }) => {
    const { inputs, outputs } = JSON.parse(item) as { inputs: Record<string, unknown>; outputs: unknown };
    return outputs == null ? [] : [{ values: inputs, scores: outputs }];
  });
}

async function correctedJudgements(
  deps: Pick<TraceDeps, "sql" | "clickhouse">,
  tenantId: string,
  evaluatorId: string,
  { bindings }: PreparedJudge,
  count: number,
): Promise<Example[]> {
  const corrections = await findCorrections(deps.sql, tenantId, evaluatorId, count);
  const keys = corrections.map(({ run_id, session_id, trace_id, start_time }) => ({
    id: run_id,
    project_id: session_id,
    trace_id,
    start_time,
  }));
  const children = bindings.some(({ path }) => ["trace", "tool_calls", "context"].includes(path.root));
  const runs = new Map((await readEvaluatedRuns(deps, tenantId, keys, { children })).map((run) => [run.id, run]));
  return corrections.flatMap(({ run_id, key, correction, comment }) => {
    const run = runs.get(run_id);
    if (!run) return [];
    const { values } = bindVariables({ kind: "run", run }, bindings);
    const right = typeof correction === "object" && correction !== null ? correction : { [key]: correction };
    return [{ values, scores: { ...right, ...(comment !== null && { earlier_reasoning: comment }) } }];
  });
}
