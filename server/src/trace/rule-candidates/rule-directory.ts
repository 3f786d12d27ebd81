import type { Sql } from "../../base/db/connect.ts";
import {
  describeInterest,
  readRuleFilters,
  type RuleFilters,
  type RuleInterest,
  type WatchedRule,
} from "./rule-filters.ts";
import { type EnabledRule, selectEnabledRules, selectProjectFacts } from "./sql.ts";

/** Age of the answers, by this process's monotonic clock, at the time of the question. */
const MAX_AGE_MS = 500;
/** Time after its commit from which every replica knows a rule: a replica's answer may be older by MAX_AGE_MS. */
export const KNOWN_AFTER_MS = MAX_AGE_MS + 100;
const MAX_TENANTS = 10_000;
const MAX_PROJECTS = 10_000;
const MAX_PARSED = 1000;

interface Rules {
  /** When the query began. */
  at: number;
  found: Promise<TenantRules>;
}

interface TenantRules {
  rules: (Pick<EnabledRule, "project_id" | "dataset_id"> & WatchedRule)[];
  /** Rules of the projects that were asked for. */
  projects: Map<string, WatchedRule[]>;
}

/**
 * Knows which projects have enabled rules, for the writers of runs and feedback.
 *
 * An answer is at most 500 ms older than the question: a query that began earlier is not used. So a rule's creation
 * that is answered after KNOWN_AFTER_MS is known to every replica for all requests that begin after the answer. Writers
 * of a workspace without rules ask one query per 500 ms.
 */
export class RuleDirectory {
  readonly #sql: Sql;
  readonly #tenants = new Map<string, Rules>();
  readonly #parsed = new ParsedFilters();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Forgets all answers. Call after a change of a rule in this process. */
  forget(): void {
    this.#tenants.clear();
  }

  /** Whether the workspace has enabled rules to which feedback matters. */
  async readsFeedback(tenantId: string): Promise<boolean> {
    this.#refresh([tenantId]);
    return (await this.#tenants.get(tenantId)!.found).rules.some((rule) => rule.feedback);
  }

  /** Finds the rules of projects, by workspace; projects without rules are left out. */
  async find(wanted: ReadonlyMap<string, ReadonlySet<string>>): Promise<Map<string, Map<string, WatchedRule[]>>> {
    this.#refresh([...wanted.keys()]);
    const entries = [...wanted.keys()].map((tenantId) => [tenantId, this.#tenants.get(tenantId)!.found] as const);
    const found = new Map<string, Map<string, WatchedRule[]>>();
    const missing: { tenant_id: string; project_id: string }[] = [];
    const answers: { tenantId: string; own: TenantRules; projects: Map<string, WatchedRule[]> }[] = [];
    for (const [tenantId, rules] of entries) {
      const own = await rules;
      if (own.rules.length === 0) continue;
      // taken before the cache changes, which may forget them
      const projects = new Map<string, WatchedRule[]>();
      for (const project_id of wanted.get(tenantId)!) {
        const known = own.projects.get(project_id);
        if (known) projects.set(project_id, known);
        else missing.push({ tenant_id: tenantId, project_id });
      }
      answers.push({ tenantId, own, projects });
    }
    const facts = await selectProjectFacts(this.#sql, missing);
    for (const { tenantId, own, projects } of answers) {
      for (const { tenant_id, project_id, dataset_id, is_internal } of facts) {
        if (tenant_id !== tenantId) continue;
        const rules = is_internal ? [] : own.rules.filter((rule) => isInScope(rule, { project_id, dataset_id }));
        if (own.projects.size >= MAX_PROJECTS) own.projects.clear();
        own.projects.set(project_id, rules);
        projects.set(project_id, rules);
      }
      for (const [id, rules] of projects) if (rules.length === 0) projects.delete(id);
      if (projects.size > 0) found.set(tenantId, projects);
    }
    return found;
  }

  /** Begins one query for all workspaces whose answer is too old. */
  #refresh(tenants: readonly string[]): void {
    const at = performance.now();
    const stale = tenants.filter((id) => {
      const known = this.#tenants.get(id);
      return !known || at - known.at > MAX_AGE_MS;
    });
    if (stale.length === 0) return;
    const rows = selectEnabledRules(this.#sql, stale);
    for (const id of stale) {
      const found = rows.then((all) => ({
        rules: all.filter((rule) => rule.tenant_id === id).map((rule) => readRule(this.#parsed, rule)),
        projects: new Map<string, WatchedRule[]>(),
      }));
      const entry = { at, found };
      this.#tenants.delete(id);
      this.#tenants.set(id, entry);
      // failures are not cached
      found.catch(() => this.#tenants.get(id) === entry && this.#tenants.delete(id));
    }
    while (this.#tenants.size > Math.max(MAX_TENANTS, stale.length)) {
      this.#tenants.delete(this.#tenants.keys().next().value!);
    }
  }
}

type Parsed = { filters: RuleFilters; interest: RuleInterest };

/** Filters that were parsed, by their texts: the rules of a workspace are read twice a second. */
class ParsedFilters {
  readonly #known = new Map<string, Parsed>();

  /** @throws FilterError */
  read(rule: EnabledRule): Parsed {
    const key = JSON.stringify([rule.filter, rule.trace_filter, rule.tree_filter]);
    const known = this.#known.get(key);
    if (known) return known;
    const filters = readRuleFilters(rule);
    const parsed = { filters, interest: describeInterest(filters) };
    if (this.#known.size >= MAX_PARSED) this.#known.clear();
    this.#known.set(key, parsed);
    return parsed;
  }
}

/** Whether a rule concerns the runs of a project: that project's, its dataset's, or a rule for all projects. */
export const isInScope = (
  rule: Pick<EnabledRule, "project_id" | "dataset_id">,
  project: { project_id: string; dataset_id: string | null },
): boolean =>
  rule.dataset_id === null
    ? rule.project_id === null || rule.project_id === project.project_id
    : rule.dataset_id === project.dataset_id;

function readRule(parsed: ParsedFilters, rule: EnabledRule): TenantRules["rules"][number] {
  const { rule_id, project_id, dataset_id, sampling_rate } = rule;
  const known = { rule_id, project_id, dataset_id, sampling_rate, isOfThreads: rule.group_by !== null };
  try {
    const { filters, interest } = parsed.read(rule);
    return { ...known, filters, ...interest };
  } catch {
    // a filter of another version: the matcher finds it and disables the rule
    return { ...known, filters: undefined, wholeTrace: true, readsUsage: true, readsTier: true, feedback: true };
  }
}
