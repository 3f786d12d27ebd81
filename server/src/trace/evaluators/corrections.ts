import type { TraceDeps } from "../deps.ts";
import { listExamples } from "../examples/sql.ts";
import { delimit } from "./bind-variables.ts";
import type { LlmDefinition } from "./definition.ts";
import { shorten } from "./shorten.ts";

/** Characters of a variable of an example. */
const MAX_VALUE = 4000;

interface Example {
  values: Record<string, unknown>;
  scores: unknown;
}

/**
 * Returns the newest examples of a judge's dataset, whose inputs are the prompt's variables and whose outputs the right
 * scores: judgements that people corrected. Null when it has none.
 */
export async function correctionMessage(
  deps: Pick<TraceDeps, "sql">,
  tenantId: string,
  { few_shot: wanted }: LlmDefinition,
  mark: string,
): Promise<string | null> {
  if (wanted === null || wanted.dataset_id === null) return null;
  const examples = await datasetExamples(deps, tenantId, wanted.dataset_id, wanted.count);
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
