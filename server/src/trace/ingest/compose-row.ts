import { wellFormed } from "../../base/well-formed.ts";
import { encodeMetadata } from "../runs/pairs.ts";
import type { RunRow } from "../runs/clickhouse.ts";
import type { ModelPrice, ModelPrices } from "../prices/model-prices.ts";
import { priceUsage } from "../prices/price-usage.ts";
import { EXTRA_PATCHED, patchedBy, withoutPatched } from "./run-memory.ts";
import type { Resolved } from "./resolve-runs.ts";
import { factsOf } from "./run-piece.ts";
import type { Usage } from "./usage.ts";

/** The row of a piece whose `extra` is merged and whose place is known. Notes what an update sets. */
export async function composeRow(
  prices: ModelPrices,
  tenantId: string,
  { piece, run, isNew }: Resolved,
  now: string,
): Promise<RunRow> {
  const row: RunRow = {
    ...piece.fields,
    tenant_id: tenantId,
    project_id: run.project_id,
    start_time: run.start_time,
    id: piece.id,
    trace_id: run.trace_id,
    parent_run_id: piece.parent_run_id,
    updated_at: now,
  };
  if (isNew) row.inserted_at = now;
  if (piece.extra) {
    const { metadata, thread_id } = factsOf(piece.extra);
    row.metadata = wellFormed(encodeMetadata(metadata));
    row.thread_id = thread_id;
  }
  if (piece.usage) {
    const price = run.model && (await prices.find(tenantId, run.model, run.start_time));
    writeUsage(row, price ? priceUsage(piece.usage, price) : piece.usage, price);
  }
  if (piece.kind === "patch") run.patched |= patchedBy(row);
  else withoutPatched(row, run.patched & ~EXTRA_PATCHED);
  return row;
}

function writeUsage(row: RunRow, usage: Usage, price: ModelPrice | undefined): void {
  row.prompt_tokens = usage.prompt_tokens;
  row.completion_tokens = usage.completion_tokens;
  row.total_tokens = usage.total_tokens;
  row.prompt_token_details = json(usage.prompt_token_details);
  row.completion_token_details = json(usage.completion_token_details);
  row.prompt_cost = usage.prompt_cost;
  row.completion_cost = usage.completion_cost;
  row.total_cost = usage.total_cost;
  row.prompt_cost_details = json(usage.prompt_cost_details);
  row.completion_cost_details = json(usage.completion_cost_details);
  if (price) row.price_model_id = price.id;
}

const json = (value: object | undefined): string | undefined => value && wellFormed(JSON.stringify(value));
