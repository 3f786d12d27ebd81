import type { Sql } from "../../base/db/connect.ts";
import { uuid7 } from "../../base/ids.ts";
import { MAX_INSTALLED_PRICES } from "./model-prices.ts";
import type { ListedPrice } from "./read-price-list.ts";
import { insertInstalledPrices, listInstalledPrices, type ModelPriceRow } from "./sql.ts";

export interface ImportedPrices {
  added: number;
  changed: number;
  unchanged: number;
  /** The new prices, with those that they replace. */
  changes: { before: ModelPriceRow | undefined; after: ListedPrice }[];
}

/**
 * Adds a price list to the installation's prices, which apply to all workspaces after their own. A model's first price
 * has no start; a changed price applies from `from`, and the earlier one to runs that started before. A dry run
 * writes nothing.
 * @throws RangeError when the installation would have too many prices
 */
export async function importPrices(
  sql: Sql,
  list: ListedPrice[],
  from: Date,
  { dryRun = false } = {},
): Promise<ImportedPrices> {
  return sql.begin(async (tx) => {
    await tx`lock table model_prices in share row exclusive mode`;
    const known = new Map<string, ModelPriceRow>();
    // the latest first
    for (const row of await listInstalledPrices(tx)) if (!known.has(identity(row))) known.set(identity(row), row);
    const changed = list.filter((price) => {
      const before = known.get(identity(price));
      return before && costs(before) !== costs(price);
    });
    const added = list.filter((price) => !known.has(identity(price)));
    if (known.size + added.length > MAX_INSTALLED_PRICES) {
      throw new RangeError(`the installation would have more than ${MAX_INSTALLED_PRICES} prices`);
    }
    const start = from.toISOString();
    const rows = [
      ...added.map((price) => ({ ...price, id: uuid7(), start_time: null })),
      ...changed.map((price) => ({ ...price, id: uuid7(), start_time: start })),
    ];
    if (!dryRun) await insertInstalledPrices(tx, rows);
    return {
      added: added.length,
      changed: changed.length,
      unchanged: list.length - added.length - changed.length,
      changes: [...added, ...changed].map((after) => ({ before: known.get(identity(after)), after })),
    };
  }) as Promise<ImportedPrices>;
}

const identity = (price: Pick<ListedPrice, "match_pattern" | "provider">): string =>
  JSON.stringify([price.match_pattern, price.provider]);

const sorted = (details: object | null): unknown[] =>
  Object.entries(details ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));

const costs = (price: Omit<ModelPriceRow, "id" | "tenant_id" | "name" | "start_time" | "match_path">): string =>
  JSON.stringify([
    price.prompt_cost,
    price.completion_cost,
    sorted(price.prompt_cost_details),
    sorted(price.completion_cost_details),
  ]);
