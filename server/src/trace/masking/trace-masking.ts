import { Counter, type Registry } from "prom-client";

import { type MaskableAttachment, maskAttachment } from "../../../../host-kit/src/masking/mask-attachment.ts";
import { type Masked, type Masking, maskJson } from "../../../../host-kit/src/masking/mask-json.ts";
import { type MaskingByField, VALUE_FIELDS } from "../../../../host-kit/src/masking/read-masking.ts";
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
  raw: Partial<Record<ValueField, string>>;
  values?: Partial<Record<ValueField, unknown>>;
}
type ValueField = (typeof VALUE_FIELDS)[number];

/** What is masked of feedback, which is changed. */
export interface MaskedFeedback {
  session_id?: string | null | undefined;
  value?: unknown;
  comment?: unknown;
  correction?: unknown;
  extra?: unknown;
}
const FEEDBACK_TEXTS = ["value", "comment", "correction", "extra"] as const;

/** Counts what was masked. Call it when the request's item is accepted. */
export type Accepted = () => void;

/** Masks what a request sends. */
export interface RequestMasking {
  /** Changes the run. */
  run(run: MaskedRun): Accepted;
  /** Changes nothing. `run`: its run, if that is in the request. @returns no attachment when it is dropped */
  attachment<T extends MaskableAttachment>(
    attachment: T,
    run: Record<string, unknown> | undefined,
  ): { attachment: T | undefined; accepted: Accepted };
  /** Changes the feedback, whose null values stay. */
  feedback(feedback: MaskedFeedback): void;
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

  /** Returns what masks a request; undefined for a workspace without rules. */
  async find(tenantId: string): Promise<RequestMasking | undefined> {
    const rules = await this.#rules.get(tenantId, () => this.#read(tenantId));
    if (rules.length === 0) return undefined;
    return {
      run: (run) => this.#maskRun(tenantId, rules, run),
      attachment: (attachment, run) => {
        const counts = new Replaced(rules, "attachments", run ?? {});
        const masked = maskAttachment(attachment, counts.maskings, counts.each);
        return { attachment: masked, accepted: () => this.#accept(tenantId, counts.byRule()) };
      },
      feedback: (feedback) => this.#maskFeedback(tenantId, rules, feedback),
    };
  }

  #maskFeedback(tenantId: string, rules: readonly Rule[], feedback: MaskedFeedback): void {
    const counts = new Replaced(rules, "feedback", { session_id: feedback.session_id });
    if (counts.maskings.length === 0) return;
    const sent = FEEDBACK_TEXTS.filter((name) => feedback[name] != null);
    const text = JSON.stringify(Object.fromEntries(sent.map((name) => [name, feedback[name]])));
    const masked = maskJson(text, counts.maskings);
    if (masked.text === text) return;
    const values = JSON.parse(masked.text) as Partial<Record<(typeof FEEDBACK_TEXTS)[number], unknown>>;
    for (const name of sent) feedback[name] = values[name] ?? null;
    counts.add(masked.counts);
    this.#accept(tenantId, counts.byRule());
  }

  #maskRun(tenantId: string, rules: readonly Rule[], { run, raw, values }: MaskedRun): Accepted {
    const replaced = new Map<string, number>();
    const mask = (field: ValueField | "name" | "tags", text: string | undefined): string | undefined => {
      const counts = new Replaced(rules, field, run);
      if (text === undefined || counts.maskings.length === 0) return undefined;
      const masked = attempt(text, counts.maskings);
      if (!masked || masked.text === text) return undefined;
      counts.add(masked.counts);
      for (const [id, count] of counts.byRule()) replaced.set(id, (replaced.get(id) ?? 0) + count);
      return masked.text;
    };
    for (const field of VALUE_FIELDS) {
      const masked = mask(field, raw[field]);
      if (masked === undefined) continue;
      raw[field] = masked;
      if (values) delete values[field];
    }
    for (const field of ["name", "tags"] as const) {
      const masked = run[field] == null ? undefined : mask(field, JSON.stringify(run[field]));
      if (masked !== undefined) run[field] = JSON.parse(masked);
    }
    return () => this.#accept(tenantId, replaced);
  }

  #accept(tenantId: string, replaced: ReadonlyMap<string, number>): void {
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

/** The rules of a field, with what each of them replaced. */
class Replaced {
  readonly maskings: Masking[];
  readonly each: number[];
  readonly #ids: string[];

  constructor(rules: readonly Rule[], field: keyof MaskingByField, run: Record<string, unknown>) {
    const own = rules
      .filter((rule) => rule.fields[field] && concerns(rule, run))
      .flatMap(({ id, fields }) => fields[field]!.map((masking) => ({ id, masking })));
    this.maskings = own.map(({ masking }) => masking);
    this.#ids = own.map(({ id }) => id);
    this.each = own.map(() => 0);
  }

  add(counts: readonly number[]): void {
    for (const [n, count] of counts.entries()) this.each[n]! += count;
  }

  byRule(): Map<string, number> {
    const found = new Map<string, number>();
    for (const [n, id] of this.#ids.entries())
      if (this.each[n]! > 0) found.set(id, (found.get(id) ?? 0) + this.each[n]!);
    return found;
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
