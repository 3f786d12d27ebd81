import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { readBudget } from "./budget.ts";
import { putBudget } from "./budget-sql.ts";
import * as schema from "./schema.ts";

const shared = { tag: "Models", ...v1("/models/budget") } as const;

/** Routes of the monthly budget of a workspace for calls to models. */
export function modelBudgetRoutes(deps: TraceDeps): Route[] {
  return [
    route({
      ...shared,
      method: "GET",
      permission: "models:read",
      summary: "Get the model budget of the current month, and what is spent of it",
      out: { 200: schema.budget },
      handler: async ({ principal, c }) => c.json(await readBudget(deps, principal.workspaceId)),
    }),
    route({
      ...shared,
      method: "PUT",
      permission: "models:manage",
      summary: "Set the monthly model budget in US dollars; null removes it",
      auditFields: ["limit_usd"],
      body: schema.budgetBody,
      out: { 200: schema.budget },
      async handler({ body, principal, c }) {
        await putBudget(deps.sql, principal.workspaceId, body.limit_usd);
        return c.json(await readBudget(deps, principal.workspaceId));
      },
    }),
  ];
}
