import type { Sql, Transaction } from "../../base/db/connect.ts";

export interface ModelPriceRow {
  id: string;
  tenant_id: string | null;
  name: string;
  start_time: string | null;
  match_pattern: string;
  match_path: string[];
  provider: string | null;
  /** Dollars per token, as exact decimal text. */
  prompt_cost: string;
  completion_cost: string;
  prompt_cost_details: Record<string, string | number> | null;
  completion_cost_details: Record<string, string | number> | null;
}

const COLUMNS = `id, tenant_id, name, to_char(start_time at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') as start_time,
  match_pattern, match_path, provider, trim_scale(prompt_cost)::text as prompt_cost,
  trim_scale(completion_cost)::text as completion_cost, prompt_cost_details, completion_cost_details`;

/** Lists prices in order of precedence: the workspace's before the built-in ones, then the latest start first. */
export const listPrices = (sql: Sql, tenantId: string, limit: number): Promise<ModelPriceRow[]> => sql<ModelPriceRow[]>`
  select ${sql.unsafe(COLUMNS)} from model_prices
  where tenant_id = ${tenantId} or tenant_id is null
  order by tenant_id is null, model_prices.start_time desc nulls last, created_at desc, id limit ${limit}`;

export type NewPrice = Omit<ModelPriceRow, "id" | "tenant_id">;

const json = (value: object | null): string | null => value && JSON.stringify(value);

/** @returns undefined when the workspace already has `max` */
export async function insertPrice(
  sql: Sql,
  tenantId: string,
  id: string,
  price: NewPrice,
  max: number,
): Promise<ModelPriceRow | undefined> {
  const [row] = await sql<ModelPriceRow[]>`
    insert into model_prices (id, tenant_id, name, start_time, match_pattern, match_path, provider, prompt_cost,
      completion_cost, prompt_cost_details, completion_cost_details)
    select ${id}, ${tenantId}, ${price.name}, ${price.start_time}::timestamptz, ${price.match_pattern},
      ${price.match_path}::text[], ${price.provider}, ${price.prompt_cost}::numeric, ${price.completion_cost}::numeric,
      ${json(price.prompt_cost_details)}::text::jsonb, ${json(price.completion_cost_details)}::text::jsonb
    where (select count(*) from model_prices where tenant_id = ${tenantId}) < ${max}
    returning ${sql.unsafe(COLUMNS)}`;
  return row;
}

export async function updatePrice(
  sql: Sql,
  tenantId: string,
  id: string,
  price: NewPrice,
): Promise<ModelPriceRow | undefined> {
  const [row] = await sql<ModelPriceRow[]>`
    update model_prices set name = ${price.name}, start_time = ${price.start_time}::timestamptz,
      match_pattern = ${price.match_pattern}, match_path = ${price.match_path}::text[], provider = ${price.provider},
      prompt_cost = ${price.prompt_cost}::numeric, completion_cost = ${price.completion_cost}::numeric,
      prompt_cost_details = ${json(price.prompt_cost_details)}::text::jsonb,
      completion_cost_details = ${json(price.completion_cost_details)}::text::jsonb
    where tenant_id = ${tenantId} and id = ${id}
    returning ${sql.unsafe(COLUMNS)}`;
  return row;
}

/** @returns false unless the workspace had such a price */
export async function deletePrice(sql: Sql, tenantId: string, id: string): Promise<boolean> {
  const rows = await sql`delete from model_prices where tenant_id = ${tenantId} and id = ${id} returning 1`;
  return rows.length > 0;
}

/** Lists a workspace's own prices, the latest start first. */
export const listOwnPrices = (sql: Sql, tenantId: string, limit: number): Promise<ModelPriceRow[]> => sql<
  ModelPriceRow[]
>`
  select ${sql.unsafe(COLUMNS)} from model_prices where tenant_id = ${tenantId}
  order by model_prices.start_time desc nulls last, created_at desc, id limit ${limit}`;

/** Lists the installation's prices, the latest first. */
export const listInstalledPrices = (sql: Sql | Transaction): Promise<ModelPriceRow[]> => sql<ModelPriceRow[]>`
  select ${sql.unsafe(COLUMNS)} from model_prices where tenant_id is null
  order by model_prices.start_time desc nulls last, created_at desc, id`;

export type InstalledPrice = Omit<NewPrice, "match_path"> & { id: string };

/** Adds prices of the installation. */
export async function insertInstalledPrices(sql: Sql | Transaction, prices: InstalledPrice[]): Promise<void> {
  await sql`
    insert into model_prices (id, name, start_time, match_pattern, provider, prompt_cost, completion_cost,
      prompt_cost_details, completion_cost_details)
    select id, name, start_time, match_pattern, provider, prompt_cost, completion_cost, prompt_cost_details,
      completion_cost_details
    from jsonb_to_recordset(${JSON.stringify(prices)}::text::jsonb) as x (id uuid, name text, start_time timestamptz,
      match_pattern text, provider text, prompt_cost numeric, completion_cost numeric, prompt_cost_details jsonb,
      completion_cost_details jsonb)`;
}
