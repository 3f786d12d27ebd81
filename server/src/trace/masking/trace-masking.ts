import { Counter, type Registry } from "prom-client";

import { type Masked, type Masking, maskJson } from "../../../../host-kit/src/masking/mask-json.ts";
import { RUN_FIELDS, type MaskingByField } from "../../../../host-kit/src/masking/read-masking.ts";
import { AgedCache } from "../../base/aged-cache.ts";
import type { Sql } from "../../base/db/connect.ts";
import type { Log } from "../../base/log.ts";
import { Poller } from "../../base/polling/poller.ts";
import { compileRule } from "./compile-rule.ts";
import { addCounts, type MaskingCount, selectEnabled } from "./sql.ts";

/** Age of a workspace's rules at the time of a request. */
const MAX_AGE_MS = 500;
const MAX_TENANTS = 10_000;
const FLUSH_MS = 5000;

/** What is masked of a received run. */
export interface MaskedRun {
  run: Record<string, unknown>;
  raw: Partial<Record<(typeof RUN_FIELDS)[number], string>>;
  values?: Partial<Record<(typeof RUN_FIELDS)[number], unknown>>;
}

interface Rule {
  id: string;
  project: { id: string; name: string | null } | null;
  fields: MaskingByField;
}

/**
 * Masks what arrives in traces, by the rules of the workspace, before anything of it is stored. A rule is known to every
 * replica half a second after its creation was answered. While the rules cannot be read, nothing is accepted.
 */
export class TraceMasking {
  readonly #sql: Sql;
  readonly #poller: Poller;
  readonly #masked: Counter;
  readonly #rules = new AgedCache<Rule[]>({ maxAgeMs: MAX_AGE_MS, maxEntries: MAX_TENANTS });
  #counts = new Map<string, MaskingCount>();

  constructor({ sql, log, registry }: { sql: Sql; log: Log; registry: Registry }) {
    this.#sql = sql;
    const failing = "could not store the counts of masked values; will retry";
    this.#poller = new Poller({ pass: () => this.flush(), everyMs: FLUSH_MS, log, failing });
    this.#masked = new Counter({
      name: "heddle_masked_values_total",
      help: "Values that masking rules replaced in received traces.",
      registers: [registry],
    });
  }

  start(): void {
    this.#poller.start(FLUSH_MS);
  }

  /** Stores the counts. */
  async stop(): Promise<void> {
    await this.#poller.stop();
    await this.flush().catch(() => {});
  }

  /** Forgets the rules. Call after a change in this process. */
  forget(): void {
    this.#rules.clear();
  }

  /** Returns what masks the runs of a request; undefined for a workspace without rules. */
  async find(tenantId: string): Promise<((run: MaskedRun) => void) | undefined> {
    const rules = await this.#rules.get(tenantId, () => this.#read(tenantId));
    return rules.length === 0 ? undefined : (run) => this.#mask(tenantId, rules, run);
  }

  #mask(tenantId: string, rules: readonly Rule[], { run, raw, values }: MaskedRun): void {
    const own = rules.filter((rule) => concerns(rule, run));
    const replaced = new Map<string, number>();
    for (const field of RUN_FIELDS) {
      const text = raw[field];
      if (text === undefined) continue;
      const maskings = own.flatMap(({ id, fields }) => (fields[field] ?? []).map((masking) => ({ id, masking })));
      if (maskings.length === 0) continue;
      const masked = attempt(
        text,
        maskings.map(({ masking }) => masking),
      );
      if (!masked || masked.text === text) continue;
      raw[field] = masked.text;
      if (values) delete values[field];
      for (const [n, { id }] of maskings.entries()) {
        if (masked.counts[n]! > 0) replaced.set(id, (replaced.get(id) ?? 0) + masked.counts[n]!);
      }
    }
    for (const [rule_id, count] of replaced) {
      this.#masked.inc(count);
      this.#count({ tenant_id: tenantId, rule_id, runs: 1, replaced: count });
    }
  }

  #count({ tenant_id, rule_id, runs, replaced }: MaskingCount): void {
    const key = tenant_id + rule_id;
    const known = this.#counts.get(key) ?? { tenant_id, rule_id, runs: 0, replaced: 0 };
    this.#counts.set(key, { ...known, runs: known.runs + runs, replaced: known.replaced + replaced });
  }

  /** Stores the counts so far. */
  async flush(): Promise<number> {
    const counts = this.#counts;
    this.#counts = new Map();
    if (counts.size === 0) return FLUSH_MS;
    try {
      await addCounts(this.#sql, [...counts.values()]);
    } catch (error) {
      for (const count of counts.values()) this.#count(count);
      throw error;
    }
    return FLUSH_MS;
  }

  async #read(tenantId: string): Promise<Rule[]> {
    return (await selectEnabled(this.#sql, tenantId)).map((row) => ({
      id: row.rule_id,
      project: row.project_id === null ? null : { id: row.project_id, name: row.project_name },
      fields: compileRule(row),
    }));
  }
}

/** Masks JSON text. @returns undefined for text that is no JSON, which ingest rejects next */
function attempt(text: string, maskings: readonly Masking[]): Masked | undefined {
  try {
    return maskJson(text, maskings);
  } catch (error) {
    if (isJson(text)) throw error;
    return undefined;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Updates may name no project: rules of every project apply to them, since too much masked is better than too little. */
function concerns({ project }: Rule, run: Record<string, unknown>): boolean {
  if (project === null) return true;
  const [id, name] = [run["session_id"], run["session_name"]];
  if (typeof id === "string" && id !== "")
    return id.replaceAll("-", "").toLowerCase() === project.id.replaceAll("-", "");
  return typeof name !== "string" || name === "" || name === project.name;
}
