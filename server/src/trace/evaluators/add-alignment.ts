import { inParallel } from "../../base/in-parallel.ts";
import type { TraceDeps } from "../deps.ts";
import { selectCompared } from "./alignment-sql.ts";
import { MAX_COMPARED, toPair } from "./compare-with-people.ts";
import { measureAlignment } from "./measure-alignment.ts";

interface Listed {
  id: string;
  version: number;
  judgements: number;
}

/** Evaluators that are measured at the same time. */
const AT_ONCE = 2;

/** Adds to listed evaluators how far people agree with their newest version, by key. @param list JSON */
export async function addAlignment(
  { sql }: Pick<TraceDeps, "sql">,
  tenantId: string,
  list: string,
): Promise<{ evaluators: object[] }> {
  const { evaluators, ...rest } = JSON.parse(list) as { evaluators: Listed[] };
  const measured = await inParallel(evaluators, AT_ONCE, async (evaluator) => {
    const { id, version, judgements } = evaluator;
    const rows = judgements === 0 ? [] : await selectCompared(sql, tenantId, id, { version }, MAX_COMPARED);
    const keys = [...new Set(rows.map(({ key }) => key))].toSorted().map((feedback_key) => {
      const pairs = rows.filter(({ key }) => key === feedback_key).map(toPair);
      const { items, accuracy, kappa, mean_absolute_error } = measureAlignment(pairs);
      return { feedback_key, items, accuracy, kappa, mean_absolute_error };
    });
    return { ...evaluator, alignment: { version, items: rows.length, keys } };
  });
  return { ...rest, evaluators: measured };
}
