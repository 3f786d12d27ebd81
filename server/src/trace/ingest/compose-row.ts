import { wellFormed } from "../../base/well-formed.ts";
import type { ModelPrices } from "../prices/model-prices.ts";
import { priceUsage, withoutPrice } from "../prices/price-usage.ts";
import type { RunRow } from "../run-rows/clickhouse.ts";
import { encodeMetadata } from "../run-rows/pairs.ts";
import { CREATED, EXTRA_PATCHED, patchedBy, UPDATED_FIRST, withoutPatched } from "./patched-fields.ts";
import type { Resolved } from "./resolve-runs.ts";
import { readFacts } from "./run-piece.ts";

/**
 * Builds the row of a piece whose `extra` is merged and whose place is known. Records which fields an update sets.
 *
 * A single literal with all columns, because rows built property by property are slow to create and to serialize.
 */
export async function composeRow(
  prices: ModelPrices,
  tenantId: string,
  { piece, run, isNew }: Resolved,
  now: string,
): Promise<RunRow> {
  const { fields } = piece;
  const facts = piece.extra && readFacts(piece.extra);
  const price = piece.usage && run.model && (await prices.find(tenantId, run.model, run.start_time));
  const usage = piece.usage && (price ? priceUsage(piece.usage, price) : withoutPrice(piece.usage, run.model));
  const row: RunRow = {
    tenant_id: tenantId,
    project_id: run.project_id,
    start_time: run.start_time,
    id: piece.id,
    trace_id: run.trace_id,
    updated_at: now,
    inserted_at: isNew ? now : undefined,
    parent_run_id: piece.parent_run_id,
    dotted_order: fields.dotted_order,
    name: fields.name,
    run_type: fields.run_type,
    end_time: fields.end_time,
    status: fields.status,
    error: fields.error,
    inputs: fields.inputs,
    inputs_preview: fields.inputs_preview,
    input_pairs: fields.input_pairs,
    outputs: fields.outputs,
    outputs_preview: fields.outputs_preview,
    output_pairs: fields.output_pairs,
    events: fields.events,
    first_token_time: fields.first_token_time,
    extra: fields.extra,
    metadata: facts && wellFormed(encodeMetadata(facts.metadata)),
    thread_id: facts?.thread_id,
    serialized: fields.serialized,
    tags: fields.tags,
    reference_example_id: fields.reference_example_id,
    prompt_tokens: usage?.prompt_tokens,
    completion_tokens: usage?.completion_tokens,
    total_tokens: usage?.total_tokens,
    prompt_token_details: json(usage?.prompt_token_details),
    completion_token_details: json(usage?.completion_token_details),
    prompt_cost: usage?.prompt_cost,
    completion_cost: usage?.completion_cost,
    total_cost: usage?.total_cost,
    prompt_cost_details: json(usage?.prompt_cost_details),
    completion_cost_details: json(usage?.completion_cost_details),
    cost_basis: usage && json(usage.basis ?? {}),
    trace_tier: fields.trace_tier,
    provisional_root: fields.provisional_root,
    price_model_id: price && usage?.basis?.cost === "price" ? price.id : undefined,
  };
  if (piece.kind === "patch") {
    row.patched = patchedBy(row) | (piece.extra ? EXTRA_PATCHED : 0) | (isNew ? UPDATED_FIRST : 0);
    if (run.patched !== undefined) run.patched |= row.patched;
  } else {
    row.patched = CREATED;
    withoutPatched(row, run.patched ?? 0);
  }
  return row;
}

const json = (value: object | undefined): string | undefined => value && wellFormed(JSON.stringify(value));
