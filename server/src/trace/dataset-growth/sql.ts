import type { Sql, Transaction } from "../../base/db/connect.ts";
import { buildJsonObject } from "../../base/db/json-object.ts";
import { isoTime } from "../datasets/sql.ts";

/** Selects the inputs of the newest current examples of a dataset, oldest of them first. */
export async function selectInputs(
  sql: Sql,
  tenantId: string,
  datasetId: string,
  { splits, limit }: { splits?: string[] | undefined; limit: number },
): Promise<{ example_id: string; inputs: Record<string, unknown> }[]> {
  const rows = await sql<{ example_id: string; inputs: Record<string, unknown> }[]>`
    select example_id, inputs from dataset_examples x
    where tenant_id = ${tenantId} and dataset_id = ${datasetId} and replaced_at is null
      and ${splits === undefined ? sql`true` : sql`x.metadata -> 'dataset_split' ?| ${splits}::text[]`}
    order by created_at desc, example_id desc limit ${limit}`;
  return rows.toReversed();
}

export interface SourceExample {
  example_id: string;
  inputs: Record<string, unknown>;
  outputs: Record<string, unknown> | null;
  metadata: Record<string, unknown>;
}

/** Selects the examples that variants are made of: named ones, or a sample that depends on `seed` only. */
export async function selectSources(
  sql: Sql,
  tenantId: string,
  datasetId: string,
  { ids, splits, seed, limit }: { ids?: string[] | null; splits?: string[] | null; seed: string; limit: number },
): Promise<SourceExample[]> {
  return sql<SourceExample[]>`
    select example_id, inputs, outputs, metadata from dataset_examples x
    where tenant_id = ${tenantId} and dataset_id = ${datasetId} and replaced_at is null
      and ${ids ? sql`example_id = any(${ids}::uuid[])` : sql`true`}
      and ${splits ? sql`x.metadata -> 'dataset_split' ?| ${splits}::text[]` : sql`true`}
    order by md5(example_id::text || ${seed}), example_id limit ${limit}`;
}

/** Begins a request, or finds it. @returns its dataset and digest */
export async function beginGeneration(
  sql: Sql,
  row: { tenantId: string; requestId: string; datasetId: string; digest: string },
): Promise<{ dataset_id: string; digest: string }> {
  await sql`
    insert into example_generations (tenant_id, request_id, dataset_id, digest)
    values (${row.tenantId}, ${row.requestId}, ${row.datasetId}, decode(${row.digest}, 'hex')) on conflict do nothing`;
  const [found] = await sql<{ dataset_id: string; digest: string }[]>`
    select dataset_id, encode(digest, 'hex') as digest from example_generations
    where tenant_id = ${row.tenantId} and request_id = ${row.requestId}`;
  return found!;
}

/** Lists the sources of a request for which a model has answered. */
export async function listDoneSources(sql: Sql, tenantId: string, requestId: string): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    select source_example_id as id from example_generation_sources
    where tenant_id = ${tenantId} and request_id = ${requestId}`;
  return new Set(rows.map((row) => row.id));
}

/** @returns false when another attempt has recorded the source */
export async function insertDoneSource(
  tx: Transaction,
  tenantId: string,
  requestId: string,
  sourceId: string,
): Promise<boolean> {
  const inserted = await tx`
    insert into example_generation_sources (tenant_id, request_id, source_example_id)
    values (${tenantId}, ${requestId}, ${sourceId}) on conflict do nothing returning 1`;
  return inserted.length > 0;
}

export interface NewProposal {
  proposal_id: string;
  inputs: unknown;
  outputs: unknown;
  metadata: Record<string, unknown>;
  /** Hexadecimal. */
  inputs_digest: string;
}

/** Inserts pending proposals. Repeating it changes nothing. */
export const insertProposals = (
  tx: Transaction,
  place: { tenantId: string; datasetId: string; requestId: string; sourceId: string; runId: string },
  proposals: readonly NewProposal[],
): Promise<unknown> => tx`
  insert into example_proposals (tenant_id, proposal_id, dataset_id, request_id, source_example_id, inputs, outputs,
    metadata, inputs_digest, status, run_id, created_at)
  select ${place.tenantId}, p.proposal_id, ${place.datasetId}, ${place.requestId}, ${place.sourceId}, p.inputs,
    nullif(p.outputs::text, 'null')::json, p.metadata, decode(p.inputs_digest, 'hex'), 'pending', ${place.runId},
    clock_timestamp()
  from json_to_recordset(${JSON.stringify(proposals)}::text::json) as p (proposal_id uuid, inputs json, outputs json,
    metadata jsonb, inputs_digest text)
  on conflict do nothing`;

/** Returns those of the digests that an example or a proposal of the dataset has. */
export async function findKnownDigests(
  sql: Sql | Transaction,
  tenantId: string,
  datasetId: string,
  digests: string[],
): Promise<Set<string>> {
  const rows = await sql<{ digest: string }[]>`
    select encode(d.digest, 'hex') as digest
    from (select decode(each, 'hex') as digest from unnest(${digests}::text[]) as each) d
    where exists (select 1 from dataset_examples x where x.tenant_id = ${tenantId} and x.dataset_id = ${datasetId}
        and x.inputs_digest = d.digest and x.replaced_at is null)
      or exists (select 1 from example_proposals p where p.tenant_id = ${tenantId} and p.dataset_id = ${datasetId}
        and p.inputs_digest = d.digest)`;
  return new Set(rows.map((row) => row.digest));
}

const COLUMNS = {
  id: "p.proposal_id",
  dataset_id: "p.dataset_id",
  request_id: "p.request_id",
  source_example_id: "p.source_example_id",
  inputs: "p.inputs",
  outputs: "p.outputs",
  metadata: "p.metadata",
  status: "p.status",
  example_id: "p.example_id",
  run_id: "p.run_id",
  created_at: isoTime("p.created_at"),
  decided_at: isoTime("p.decided_at"),
};

export interface ProposalFilter {
  status?: string;
  request?: string;
  id?: string;
}

/** Lists proposals, oldest first, with the number of all that pass the filter. @returns a JSON array */
export async function listProposals(
  sql: Sql,
  tenantId: string,
  datasetId: string,
  filter: ProposalFilter,
  page: { limit: number; offset: number },
): Promise<{ items: string; total: number }> {
  const where = sql`p.tenant_id = ${tenantId} and p.dataset_id = ${datasetId}
    and ${filter.status === undefined ? sql`true` : sql`p.status = ${filter.status}`}
    and ${filter.request === undefined ? sql`true` : sql`p.request_id = ${filter.request}`}
    and ${filter.id === undefined ? sql`true` : sql`p.proposal_id = ${filter.id}`}`;
  const [row] = await sql<{ items: string; total: number }[]>`
    select coalesce(json_agg(item), '[]')::text as items,
      (select count(*)::int from example_proposals p where ${where}) as total
    from (select ${buildJsonObject(sql, COLUMNS)} as item from example_proposals p where ${where}
      order by p.created_at, p.proposal_id limit ${page.limit} offset ${page.offset}) page`;
  return row!;
}

export interface ProposalRow {
  inputs: Record<string, unknown>;
  outputs: Record<string, unknown> | null;
  metadata: Record<string, unknown>;
  status: "pending" | "accepted" | "rejected";
  example_id: string | null;
}

export async function lockProposal(
  tx: Transaction,
  tenantId: string,
  datasetId: string,
  id: string,
): Promise<ProposalRow | undefined> {
  const [row] = await tx<ProposalRow[]>`
    select inputs, outputs, metadata, status, example_id from example_proposals
    where tenant_id = ${tenantId} and dataset_id = ${datasetId} and proposal_id = ${id} for update`;
  return row;
}

export const decideProposal = (
  tx: Transaction,
  tenantId: string,
  id: string,
  { status, exampleId, userId }: { status: string; exampleId: string | null; userId: string | null },
): Promise<unknown> => tx`
  update example_proposals set status = ${status}, example_id = ${exampleId}, decided_at = clock_timestamp(),
    decided_by = ${userId}
  where tenant_id = ${tenantId} and proposal_id = ${id}`;
