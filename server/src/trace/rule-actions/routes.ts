import { notFound, AppError } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { ruleParams } from "../rules/schema.ts";
import { findRule } from "../rules/sql.ts";
import { cancelBackfill, listBackfills } from "./backfill-sql.ts";
import * as schema from "./log-schema.ts";
import { countMatches, findLastApplied, listLog } from "./log-sql.ts";
import { retryMatch } from "./match-sql.ts";
import { previewRule } from "./preview-rule.ts";
import { preview, previewBody } from "./preview-schema.ts";
import { encodePosition, readPosition, serializeLog } from "./serialize-log.ts";
import { triggerRule, triggerRules, triggerRuns } from "./trigger-rules.ts";

const shared = { tag: "Rules" } as const;
const MAX_BACKFILLS = 100;

/** Routes of what rules have done: logs, triggers and back-fills. They come before those of runs. */
export function ruleActionRoutes(deps: TraceDeps): Route[] {
  const { sql } = deps;
  const check = async (tenantId: string, id: string): Promise<void> => {
    if (!(await findRule(sql, tenantId, id))) throw notFound(`Rule not found: ${id}`);
  };
  return [
    route({
      ...shared,
      method: "GET",
      ...v1("/runs/rules/statistics"),
      permission: "rules:read",
      summary: "Count the decisions of each rule within the last hours",
      query: schema.statisticsQuery,
      out: { 200: schema.statistics },
      handler: async ({ query, principal, c }) =>
        c.json(await countMatches(sql, principal.workspaceId, query.id, query.hours)),
    }),
    route({
      ...shared,
      method: "POST",
      ...v1("/runs/rules/preview"),
      permission: "rules:read",
      audit: "none",
      summary: "Preview a rule's back-fill: runs that match, estimated cost, a sample",
      body: previewBody,
      out: { 200: preview },
      errors: [404],
      handler: async ({ body, principal, c }) => c.json(await previewRule(deps, principal.workspaceId, body)),
    }),
    route({
      ...shared,
      method: "POST",
      ...v1("/runs/rules/trigger"),
      permission: "rules:update",
      summary: "Apply rules at once",
      body: schema.triggerBody,
      out: { 200: schema.triggered },
      errors: [404],
      handler: async ({ body, principal, c }) =>
        c.json({
          rule_ids: await triggerRules(deps, principal.workspaceId, {
            rule_ids: body.rule_ids ?? null,
            dataset_id: body.dataset_id ?? null,
          }),
        }),
    }),
    route({
      ...shared,
      method: "POST",
      ...v1("/runs/rules/:rule_id/trigger"),
      permission: "rules:update",
      summary: "Apply a rule at once, or to the given runs",
      params: ruleParams,
      body: schema.triggerOneBody,
      out: { 200: schema.triggered },
      async handler({ params: { rule_id }, body, principal, c }) {
        const { run_ids: runs } = body ?? {};
        if (runs == null) await triggerRule(deps, principal.workspaceId, rule_id);
        else await triggerRuns(deps, principal.workspaceId, rule_id, runs);
        return c.json({ rule_ids: [rule_id] });
      },
    }),
    route({
      ...shared,
      method: "GET",
      ...v1("/runs/rules/:rule_id/logs"),
      permission: "rules:read",
      summary: "List the decisions of a rule, the newest first",
      params: ruleParams,
      query: schema.logQuery,
      out: { 200: schema.ruleLog.array() },
      async handler({ params: { rule_id }, query, principal, c }) {
        const { workspaceId } = principal;
        await check(workspaceId, rule_id);
        return c.json(await serializeLog(deps, workspaceId, await listLog(sql, workspaceId, rule_id, query, query)));
      },
    }),
    route({
      ...shared,
      method: "GET",
      ...v1("/runs/rules/:rule_id/logs/v2"),
      permission: "rules:read",
      summary: "List the decisions of a rule, the newest first, by cursor; backfill=any lists all",
      params: ruleParams,
      query: schema.logQueryV2,
      out: { 200: schema.logPage },
      errors: [400],
      async handler({ params: { rule_id }, query, principal, c }) {
        const { workspaceId } = principal;
        await check(workspaceId, rule_id);
        const { cursor, limit, backfill, ...filter } = query;
        const after = readPosition(cursor);
        const rows = await listLog(sql, workspaceId, rule_id, { ...filter, backfill }, { limit: limit + 1, after });
        const page = rows.slice(0, limit);
        const has_more = rows.length > limit;
        const logs = await serializeLog(deps, workspaceId, page);
        return c.json({ logs, has_more, cursor: has_more ? encodePosition(page.at(-1)!) : null });
      },
    }),
    route({
      ...shared,
      method: "POST",
      ...v1("/runs/rules/:rule_id/logs/:run_id/retry"),
      permission: "rules:update",
      summary: "Repeat the failed actions of a rule on a run",
      params: schema.runParams,
      out: { 200: schema.retried },
      errors: [409],
      async handler({ params: { rule_id, run_id }, principal, c }) {
        const found = await retryMatch(sql, principal.workspaceId, rule_id, run_id);
        if (!found) throw notFound(`The rule has not decided about the run ${run_id}.`);
        if (!found.retried) {
          throw new AppError(409, `The match is ${found.status}. Only failed and skipped matches can be retried.`);
        }
        deps.ruleActor.wake();
        return c.json({ status: "pending" as const });
      },
    }),
    route({
      ...shared,
      method: "GET",
      ...v1("/runs/rules/:rule_id/last_applied"),
      permission: "rules:read",
      summary: "Get the last run on which a rule acted",
      params: ruleParams,
      query: schema.lastAppliedQuery,
      out: { 200: schema.ruleLog },
      async handler({ params: { rule_id }, query, principal, c }) {
        const { workspaceId } = principal;
        await check(workspaceId, rule_id);
        const row = await findLastApplied(sql, workspaceId, rule_id, query.backfill);
        if (!row) throw notFound(`Rule ${rule_id} has not acted on any run yet.`);
        return c.json((await serializeLog(deps, workspaceId, [row]))[0]!);
      },
    }),
    route({
      ...shared,
      method: "GET",
      ...v1("/runs/rules/:rule_id/backfills"),
      permission: "rules:read",
      summary: "List the back-fills of a rule, the newest first",
      params: ruleParams,
      out: { 200: schema.backfills },
      async handler({ params: { rule_id }, principal, c }) {
        await check(principal.workspaceId, rule_id);
        return c.json(await listBackfills(sql, principal.workspaceId, rule_id, MAX_BACKFILLS));
      },
    }),
    route({
      ...shared,
      method: "POST",
      ...v1("/runs/rules/:rule_id/backfills/:backfill_id/cancel"),
      permission: "rules:update",
      summary: "Cancel a back-fill; what it has not acted on is skipped",
      params: schema.backfillParams,
      out: { 200: schema.backfill },
      errors: [409],
      async handler({ params: { rule_id, backfill_id }, principal, c }) {
        const { workspaceId } = principal;
        const before = await sql.begin((tx) => cancelBackfill(tx, workspaceId, rule_id, backfill_id));
        if (before === undefined) throw notFound("Back-fill not found");
        if (before !== "pending" && before !== "running")
          throw new AppError(409, `The back-fill is ${before} already.`);
        const all = await listBackfills(sql, workspaceId, rule_id, MAX_BACKFILLS);
        return c.json(all.find((row) => row.backfill_id === backfill_id)!);
      },
    }),
  ];
}
