import { unprocessable } from "../../base/errors.ts";
import type { TraceDeps } from "../deps.ts";
import { readValues } from "./experiment-values.ts";
import { listExampleIds } from "./scores-sql.ts";

export interface ExampleSort {
  /** `feedback.correctness`, or the key alone. */
  by: string;
  descending: boolean;
}

/**
 * Returns the ids of a dataset's examples by their average score in one experiment; those without a score come last.
 *
 * @throws 422 for several experiments
 */
export async function sortExamples(
  deps: Pick<TraceDeps, "sql" | "clickhouse" | "settings" | "projects">,
  tenantId: string,
  datasetId: string,
  experiments: string[],
  { by, descending }: ExampleSort,
): Promise<string[]> {
  if (experiments.length !== 1) throw unprocessable("sort: examples are sorted by the scores of one experiment only.");
  const key = by.replace(/^feedback\./, "");
  const [values, all] = await Promise.all([
    readValues(deps, tenantId, { datasetId, experiments, keys: [key] }),
    listExampleIds(deps.sql, tenantId, datasetId),
  ]);
  const scores = values.experiments[0]!.values.get(`score:${key}`);
  const byId = new Map(values.examples.map((id, place) => [id, scores?.[place] ?? NaN]));
  const scoreOf = (id: string) => byId.get(id) ?? NaN;
  return all.toSorted((a, b) => {
    const [left, right] = [scoreOf(a), scoreOf(b)];
    if (Number.isNaN(left) || Number.isNaN(right)) return Number(Number.isNaN(left)) - Number(Number.isNaN(right));
    return descending ? right - left : left - right;
  });
}
