import { z } from "zod";

import { v1 } from "../../base/http/aliases.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { changeRule, createRule, removeRule, unknownRule } from "./change-rule.ts";
import { findRuleJson, listRules } from "./list-rules.ts";
import * as schema from "./schema.ts";
import { validateRule } from "./validate-rule.ts";

const shared = { tag: "Rules" } as const;

/** Routes of automation rules. They come before those of runs, which would take "rules" for an id. */
export function ruleRoutes(deps: TraceDeps): Route[] {
  const { sql } = deps;
  const read = async (tenantId: string, id: string): Promise<Response> => {
    const item = await findRuleJson(sql, tenantId, id);
    if (item === undefined) throw unknownRule(id);
    return rawJson(item);
  };
  return [
    route({
      ...shared,
      method: "GET",
      ...v1("/runs/rules"),
      permission: "rules:read",
      summary: "List automation rules",
      query: schema.listQuery,
      out: { 200: z.array(schema.rule) },
      handler: async ({ query, principal }) => rawJson(await listRules(sql, principal.workspaceId, query)),
    }),
    route({
      ...shared,
      method: "POST",
      ...v1("/runs/rules"),
      permission: "rules:create",
      summary: "Create an automation rule; runs that are sent after the answer are evaluated",
      auditFields: ["display_name"],
      body: schema.createBody,
      out: { 200: schema.rule },
      errors: [404],
      async handler({ body, principal }) {
        return read(principal.workspaceId, await createRule(deps, principal, body));
      },
    }),
    route({
      ...shared,
      method: "POST",
      ...v1("/runs/rules/validate"),
      permission: "rules:create",
      audit: "none",
      summary: "Try a rule's judge on test data without saving it",
      body: schema.validateBody,
      out: { 200: z.array(z.record(z.string(), z.unknown())) },
      errors: [404],
      handler: async ({ body, principal, c }) => c.json(await validateRule(deps, principal, body, c.req.raw.signal)),
    }),
    route({
      ...shared,
      method: "PATCH",
      ...v1("/runs/rules/:rule_id"),
      permission: "rules:update",
      summary: "Change an automation rule",
      auditFields: ["display_name", "is_enabled"],
      params: schema.ruleParams,
      body: schema.patchBody,
      out: { 200: schema.rule },
      async handler({ params: { rule_id }, body, principal }) {
        await changeRule(deps, principal, rule_id, body);
        return read(principal.workspaceId, rule_id);
      },
    }),
    route({
      ...shared,
      method: "DELETE",
      ...v1("/runs/rules/:rule_id"),
      permission: "rules:delete",
      summary: "Delete an automation rule with its log; what it has done stays",
      params: schema.ruleParams,
      out: { 200: z.object({ message: z.string() }) },
      async handler({ params: { rule_id }, principal, c }) {
        await removeRule(deps, principal.workspaceId, rule_id);
        return c.json({ message: "Rule deleted" });
      },
    }),
  ];
}
