import type { Sql } from "../../base/db/connect.ts";
import type { AsOf } from "../datasets/resolve-version.ts";
import { isoTime } from "../datasets/sql.ts";

export interface DownloadedExample {
  id: string;
  created_at: string;
  inputs: Record<string, unknown>;
  outputs: Record<string, unknown> | null;
  metadata: Record<string, unknown>;
}

const PAGE = 500;

const stateAt = (sql: Sql, asOf: AsOf) =>
  asOf === "latest"
    ? sql`x.replaced_at is null`
    : sql`x.modified_at <= ${asOf.time}::text::timestamptz
        and (x.replaced_at is null or x.replaced_at > ${asOf.time}::text::timestamptz)`;

/** Streams all examples of a dataset, oldest first, a few hundred in memory at a time. */
export async function* readAllExamples(
  sql: Sql,
  tenantId: string,
  datasetId: string,
  asOf: AsOf,
): AsyncGenerator<DownloadedExample> {
  for (let last: DownloadedExample | undefined; ;) {
    const page: DownloadedExample[] = await sql<DownloadedExample[]>`
      select x.example_id as id, ${sql.unsafe(isoTime("x.created_at"))} as created_at, x.inputs, x.outputs, x.metadata
      from dataset_examples x
      where x.tenant_id = ${tenantId} and x.dataset_id = ${datasetId} and ${stateAt(sql, asOf)}
        and ${last ? sql`(x.created_at, x.example_id) > (${last.created_at}::text::timestamptz, ${last.id}::uuid)` : sql`true`}
      order by x.created_at, x.example_id limit ${PAGE}`;
    yield* page;
    if (page.length < PAGE) return;
    last = page.at(-1);
  }
}

/** Most keys of inputs, and of outputs, that a table has. */
export const MAX_KEYS = 10_000;

/** Returns the keys that occur, sorted; at most one more of inputs and of outputs than a table has. */
export async function selectKeys(
  sql: Sql,
  tenantId: string,
  datasetId: string,
  asOf: AsOf,
): Promise<{ inputs: string[]; outputs: string[] }> {
  const selectColumnKeys = async (column: "inputs" | "outputs") => {
    const rows = await sql<{ key: string }[]>`
      select distinct json_object_keys(x.${sql(column)}) as key from dataset_examples x
      where x.tenant_id = ${tenantId} and x.dataset_id = ${datasetId} and x.${sql(column)} is not null
        and ${stateAt(sql, asOf)}
      order by 1 limit ${MAX_KEYS + 1}`;
    return rows.map((row) => row.key);
  };
  const [inputs, outputs] = await Promise.all([selectColumnKeys("inputs"), selectColumnKeys("outputs")]);
  return { inputs, outputs };
}
