import { z } from "zod";

import { maskJson } from "../../../../host-kit/src/masking/mask-json.ts";
import { notFound, unprocessable } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { compileRule } from "./compile-rule.ts";
import * as schema from "./schema.ts";
import * as rows from "./sql.ts";

const shared = { tag: "Masking" } as const;
const unknownRule = (id: string) => notFound(`Masking rule not found: ${id}`);

/** Routes of the rules that mask received traces (docs/masking.md). */
export function maskingRoutes(deps: TraceDeps): Route[] {
  const { sql, masking, projects } = deps;
  const read = async (tenantId: string, id: string): Promise<Response> => {
    const json = await rows.selectRulesJson(sql, tenantId, id);
    if (json === "[]") throw unknownRule(id);
    return rawJson(json.slice(1, -1));
  };
  const checkProject = async (tenantId: string, id: string | null) => {
    if (id !== null && !(await projects.hasProject(tenantId, id)))
      throw unprocessable(`project_id: there is no project ${id}`);
  };
  return [
    route({
      ...shared,
      method: "GET",
      ...v1("/masking-rules"),
      permission: "rules:read",
      summary: "List masking rules, with what they masked in the last 30 days",
      out: { 200: z.array(schema.maskingRule) },
      handler: async ({ principal }) => rawJson(await rows.selectRulesJson(sql, principal.workspaceId)),
    }),
    route({
      ...shared,
      method: "POST",
      ...v1("/masking-rules"),
      permission: "rules:create",
      summary: "Create a masking rule, which is applied to what arrives half a second after the answer",
      auditFields: ["name"],
      body: schema.createBody,
      out: { 200: schema.maskingRule },
      async handler({ body, principal }) {
        await checkProject(principal.workspaceId, body.project_id);
        const row = {
          ...body,
          tenant_id: principal.workspaceId,
          rule_id: uuid7(),
          created_by: principal.actor.userId ?? null,
        };
        if (!(await rows.insertRule(sql, row, schema.MAX_RULES))) {
          throw unprocessable(`A workspace can have at most ${schema.MAX_RULES} masking rules.`);
        }
        masking.forget();
        return read(principal.workspaceId, row.rule_id);
      },
    }),
    route({
      ...shared,
      method: "POST",
      ...v1("/masking-rules/preview"),
      permission: "rules:create",
      audit: "none",
      summary: "Mask a value by rules that need not exist",
      body: schema.previewBody,
      out: { 200: schema.previewAnswer },
      async handler({ body, c }) {
        const maskings = body.rules.map((rule) => compileRule({ ...rule, fields: ["inputs"] }).inputs![0]!);
        const { text, counts } = maskJson(JSON.stringify(body.value ?? null), maskings);
        return c.json({ value: JSON.parse(text) as unknown, replaced: counts });
      },
    }),
    route({
      ...shared,
      method: "PATCH",
      ...v1("/masking-rules/:rule_id"),
      permission: "rules:update",
      summary: "Change a masking rule",
      auditFields: ["name", "is_enabled"],
      params: schema.ruleParams,
      body: schema.patchBody,
      out: { 200: schema.maskingRule },
      errors: [404],
      async handler({ params, body, principal }) {
        const tenantId = principal.workspaceId;
        await checkProject(tenantId, body.project_id ?? null);
        await sql.begin(async (tx) => {
          const before = await rows.lockRule(tx, tenantId, params.rule_id);
          if (!before) throw unknownRule(params.rule_id);
          await rows.updateRule(tx, tenantId, params.rule_id, { ...before, ...body });
        });
        masking.forget();
        return read(tenantId, params.rule_id);
      },
    }),
    route({
      ...shared,
      method: "DELETE",
      ...v1("/masking-rules/:rule_id"),
      permission: "rules:delete",
      summary: "Delete a masking rule with its counts",
      params: schema.ruleParams,
      out: { 200: z.object({ message: z.string() }) },
      errors: [404],
      async handler({ params, principal, c }) {
        if (!(await rows.deleteRule(sql, principal.workspaceId, params.rule_id))) throw unknownRule(params.rule_id);
        masking.forget();
        return c.json({ message: "Masking rule deleted" });
      },
    }),
  ];
}
