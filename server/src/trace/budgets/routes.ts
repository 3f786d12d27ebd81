import { z } from "zod";

import { platform } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import { requireReader } from "../alerts/require-reader.ts";
import type { TraceDeps } from "../deps.ts";
import { changeBudget, createBudget, removeBudget } from "./change-budget.ts";
import { listBudgets, readBudget, readMonthSpend } from "./read-budget.ts";
import * as schema from "./schema.ts";

const shared = { tag: "Budgets" } as const;
const reading = { ...shared, permission: "rules:read", method: "GET" } as const;

/** Routes of budgets. Channels are tested, and notices listed, by the routes of alerts. */
export function budgetRoutes(deps: TraceDeps): Route[] {
  const { sql } = deps;
  return [
    route({
      ...reading,
      ...platform("/budgets"),
      summary: "List the workspace's budgets with their spend of a month",
      query: schema.listQuery,
      out: { 200: z.array(schema.budget) },
      handler: async ({ query, principal, c }) => c.json(await listBudgets(sql, principal.workspaceId, query)),
    }),
    route({
      ...shared,
      permission: "rules:create",
      method: "POST",
      ...platform("/budgets"),
      summary: "Create a budget",
      body: schema.createBody,
      out: { 201: schema.budget },
      errors: [409],
      async handler({ body, principal, c }) {
        const id = await createBudget(deps, principal, body);
        return c.json(await readBudget(sql, principal.workspaceId, id), 201);
      },
    }),
    route({
      ...reading,
      ...platform("/budgets/:budget_id"),
      summary: "Get a budget with its spend of a month",
      params: schema.budgetParams,
      query: schema.monthQuery,
      out: { 200: schema.budget },
      handler: async ({ params, query, principal, c }) =>
        c.json(await readBudget(sql, principal.workspaceId, params.budget_id, query.month)),
    }),
    route({
      ...shared,
      permission: "rules:update",
      method: "PATCH",
      ...platform("/budgets/:budget_id"),
      summary: "Change a budget; fields that are not sent stay as they are",
      params: schema.budgetParams,
      body: schema.patchBody,
      out: { 200: schema.budget },
      async handler({ params: { budget_id }, body, principal, c }) {
        await changeBudget(deps, principal.workspaceId, budget_id, body);
        return c.json(await readBudget(sql, principal.workspaceId, budget_id));
      },
    }),
    route({
      ...shared,
      permission: "rules:delete",
      method: "DELETE",
      ...platform("/budgets/:budget_id"),
      summary: "Delete a budget with its record of spend and its notices",
      params: schema.budgetParams,
      out: { 200: z.object({ message: z.string() }) },
      async handler({ params, principal, c }) {
        await removeBudget(deps, principal.workspaceId, params.budget_id);
        return c.json({ message: "Budget deleted" });
      },
    }),
    route({
      ...reading,
      ...platform("/budgets/:budget_id/spend"),
      summary: "Get the spend of a month by day and by user, the highest first",
      params: schema.budgetParams,
      query: schema.spendQuery,
      out: { 200: schema.spend },
      async handler({ params, query, principal, c }) {
        requireReader(principal);
        return c.json(await readMonthSpend(sql, principal.workspaceId, params.budget_id, query));
      },
    }),
  ];
}
