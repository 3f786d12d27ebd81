import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import type { Sql } from "../../base/db/connect.ts";
import { listPrices, type ModelPriceRow } from "./sql.ts";

export interface Model {
  name: string;
  provider: string;
}

export type ModelPrice = ModelPriceRow;

/** Maximum age of cached prices in milliseconds: a changed price applies to runs from then on. */
const MAX_AGE_MS = 5000;
const MAX_TENANTS = 1000;
const MAX_MODELS = 2000;
export const MAX_PRICES = 1000;

interface Known {
  at: number;
  prices: Promise<ModelPrice[]>;
  /** Prices that match a model's name, at any time; by model. */
  matching: Map<string, Promise<ModelPrice[]>>;
}

/**
 * Finds a model's price. Patterns are regular expressions of the workspace, so ClickHouse matches them: its RE2 is
 * linear for every pattern. Matching runs once per model, not per run.
 */
export class ModelPrices {
  readonly #sql: Sql;
  readonly #clickhouse: ClickHouse;
  readonly #known = new Map<string, Known>();

  constructor(sql: Sql, clickhouse: ClickHouse) {
    this.#sql = sql;
    this.#clickhouse = clickhouse;
  }

  /** @param at the run's start, `YYYY-MM-DD hh:mm:ss.ffffff` */
  async find(tenantId: string, model: Model, at: string): Promise<ModelPrice | undefined> {
    const known = this.#tenantPrices(tenantId);
    const key = `${model.provider}\n${model.name}`;
    let matching = known.matching.get(key);
    if (!matching) {
      matching = this.#match(await known.prices, model);
      if (known.matching.size > MAX_MODELS) known.matching.clear();
      known.matching.set(key, matching);
      matching.catch(() => known.matching.delete(key));
    }
    return (await matching).find((price) => price.start_time === null || price.start_time <= at);
  }

  /** Invalidates the cache after a price change: in this process it applies immediately. */
  forget(tenantId: string): void {
    this.#known.delete(tenantId);
  }

  #tenantPrices(tenantId: string): Known {
    const known = this.#known.get(tenantId);
    if (known && performance.now() - known.at < MAX_AGE_MS) return known;
    const fresh: Known = {
      at: performance.now(),
      prices: listPrices(this.#sql, tenantId, MAX_PRICES),
      matching: new Map(),
    };
    this.#known.delete(tenantId);
    this.#known.set(tenantId, fresh);
    if (this.#known.size > MAX_TENANTS) this.#known.delete(this.#known.keys().next().value!);
    fresh.prices.catch(() => this.#known.delete(tenantId));
    return fresh;
  }

  async #match(prices: ModelPrice[], model: Model): Promise<ModelPrice[]> {
    if (prices.length === 0) return [];
    const rows = await this.#clickhouse.rows<{ hits: number[] }>({
      name: "model_prices.match",
      query: `select arrayFilter(i -> match({name:String}, {patterns:Array(String)}[i])
          and match({provider:String}, {providers:Array(String)}[i]), arrayEnumerate({patterns:Array(String)})) as hits`,
      params: {
        name: model.name,
        provider: model.provider,
        patterns: prices.map((price) => price.match_pattern),
        // a price without a provider matches any
        providers: prices.map((price) => price.provider ?? ""),
      },
    });
    return rows[0]!.hits.map((i) => prices[i - 1]!);
  }
}

/** Returns true if ClickHouse accepts the pattern. */
export async function isPattern(clickhouse: ClickHouse, pattern: string): Promise<boolean> {
  try {
    await clickhouse.rows({
      name: "model_prices.check",
      query: "select match('', {p:String})",
      params: { p: pattern },
    });
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === "427") return false;
    throw error;
  }
}
