import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import type { Sql } from "../../base/db/connect.ts";
import { listInstalledPrices, listOwnPrices, type ModelPriceRow } from "./sql.ts";

export interface Model {
  name: string;
  /** Empty if the client names none; then prices of all providers apply. */
  provider: string;
  /** Other names of the model, by the key that a price's `match_path` lists. */
  names?: Record<string, string> | undefined;
}

export type ModelPrice = ModelPriceRow;

/** Maximum age of cached prices in milliseconds: a changed price applies to runs from then on. */
const MAX_AGE_MS = 5000;
/** The same for the installation's prices, which are many and change only by an import. */
const INSTALLED_AGE_MS = 30_000;
const MAX_TENANTS = 1000;
const MAX_MODELS = 2000;
/** Prices of a workspace. */
export const MAX_PRICES = 1000;
/** Built-in and imported prices of the installation. */
export const MAX_INSTALLED_PRICES = 20_000;

interface Known {
  at: number;
  prices: Promise<ModelPrice[]>;
  /** Prices that match a model's name, at any time; by model. */
  matching: Map<string, Promise<ModelPrice[]>>;
}

/** Keys of a run's invocation parameters and metadata that hold a model's name. */
export const NAME_KEYS = ["model", "model_name", "model_id", "model_path", "endpoint_name"] as const;

export const modelKey = ({ provider, name, names }: Model): string => JSON.stringify([provider, name, names]);

/**
 * Finds a model's price, ignoring case: the workspace's own, else the installation's. Patterns are regular expressions
 * of the workspace, so ClickHouse matches them: its RE2 is linear for every pattern. Patterns that are plain names, as
 * most imported ones, are compared here. Matching runs once per model, not per run.
 */
export class ModelPrices {
  readonly #sql: Sql;
  readonly #clickhouse: ClickHouse;
  readonly #known = new Map<string, Known>();
  #installed: Known | undefined;

  constructor(sql: Sql, clickhouse: ClickHouse) {
    this.#sql = sql;
    this.#clickhouse = clickhouse;
  }

  /** @param at the run's start, `YYYY-MM-DD hh:mm:ss.ffffff` */
  async find(tenantId: string, model: Model, at: string): Promise<ModelPrice | undefined> {
    const applies = (price: ModelPrice) => price.start_time === null || price.start_time <= at;
    const own = await this.#matchKnown(this.#tenantPrices(tenantId), model);
    return own.find(applies) ?? (await this.#matchKnown(this.#installedPrices(), model)).find(applies);
  }

  async #matchKnown(known: Known, model: Model): Promise<ModelPrice[]> {
    const key = modelKey(model);
    let matching = known.matching.get(key);
    if (!matching) {
      matching = known.prices.then((prices) => this.#match(prices, model));
      if (known.matching.size > MAX_MODELS) known.matching.clear();
      known.matching.set(key, matching);
      matching.catch(() => known.matching.delete(key));
    }
    return matching;
  }

  /** Invalidates the cache after a price change: in this process it applies immediately. */
  forget(tenantId: string): void {
    this.#known.delete(tenantId);
  }

  #tenantPrices(tenantId: string): Known {
    const known = this.#known.get(tenantId);
    if (known && performance.now() - known.at < MAX_AGE_MS) return known;
    const fresh = remember(listOwnPrices(this.#sql, tenantId, MAX_PRICES));
    this.#known.delete(tenantId);
    this.#known.set(tenantId, fresh);
    if (this.#known.size > MAX_TENANTS) this.#known.delete(this.#known.keys().next().value!);
    fresh.prices.catch(() => this.#known.delete(tenantId));
    return fresh;
  }

  #installedPrices(): Known {
    if (this.#installed && performance.now() - this.#installed.at < INSTALLED_AGE_MS) return this.#installed;
    const fresh = remember(listInstalledPrices(this.#sql));
    this.#installed = fresh;
    fresh.prices.catch(() => {
      if (this.#installed === fresh) this.#installed = undefined;
    });
    return fresh;
  }

  async #match(prices: ModelPrice[], model: Model): Promise<ModelPrice[]> {
    const others = prices.filter((price) => plainName(price.match_pattern) === undefined);
    const found = new Set(await this.#matchPatterns(others, model));
    const named = prices.filter((price) => found.has(price) || isPlainMatch(price, model));
    if (model.provider === "") return named;
    const providers = [...new Set(named.flatMap((price) => price.provider ?? []))];
    const accepted = new Set(await this.#matching(providers, [model.provider]));
    return named.filter((price) => price.provider === null || accepted.has(price.provider));
  }

  /** Returns the prices whose pattern matches a name of the model. */
  async #matchPatterns(prices: ModelPrice[], model: Model): Promise<ModelPrice[]> {
    const names = new Map<string, ModelPrice[]>();
    for (const price of prices) {
      const key = JSON.stringify(namesOnPath(price, model));
      names.set(key, [...(names.get(key) ?? []), price]);
    }
    const found: ModelPrice[] = [];
    for (const [key, group] of names) {
      const patterns = new Set(
        await this.#matching([...new Set(group.map((price) => price.match_pattern))], JSON.parse(key) as string[]),
      );
      found.push(...group.filter((price) => patterns.has(price.match_pattern)));
    }
    return found;
  }

  /** Returns the patterns that match one of the texts. */
  async #matching(patterns: string[], texts: string[]): Promise<string[]> {
    if (patterns.length === 0 || texts.length === 0) return [];
    const rows = await this.#clickhouse.rows<{ hits: number[] }>({
      name: "model_prices.match",
      query: `select arrayFilter(i -> arrayExists(t -> match(t, concat('(?i)', {patterns:Array(String)}[i])),
          {texts:Array(String)}), arrayEnumerate({patterns:Array(String)})) as hits`,
      params: { patterns, texts },
    });
    return rows[0]!.hits.map((i) => patterns[i - 1]!);
  }
}

const remember = (prices: Promise<ModelPrice[]>): Known => ({ at: performance.now(), prices, matching: new Map() });

/**
 * Returns the names that the price's `match_path` selects. `ls_model_name` is the value of `model` and `model_name`,
 * which is where clients take it from.
 */
function namesOnPath({ match_path: path }: ModelPrice, { name, names }: Model): string[] {
  const own = path.includes("model") || path.includes("model_name") || path.includes("ls_model_name") ? [name] : [];
  return [...new Set([...own, ...path.flatMap((key) => names?.[key] ?? [])])];
}

/** Returns the text that a pattern such as `^gpt-4\\.1$` matches, in lower case; undefined for any other pattern. */
function plainName(pattern: string): string | undefined {
  const [, body] = /^\^((?:[\w\-/@: ]|\\[^\w])*)\$$/.exec(pattern) ?? [];
  return body?.replaceAll(/\\(.)/g, "$1").toLowerCase();
}

function isPlainMatch(price: ModelPrice, model: Model): boolean {
  const name = plainName(price.match_pattern);
  return name !== undefined && namesOnPath(price, model).some((own) => own.toLowerCase() === name);
}

/** Returns true if ClickHouse accepts the pattern. */
export async function isPattern(clickhouse: ClickHouse, pattern: string): Promise<boolean> {
  try {
    await clickhouse.rows({
      name: "model_prices.check",
      query: "select match('', concat('(?i)', {p:String}))",
      params: { p: pattern },
    });
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === "427") return false;
    throw error;
  }
}
