import { z } from "zod";

import { notFound, unprocessable } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { uuid } from "../../base/http/fields.ts";
import { route, type Route } from "../../base/http/route.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { isPattern, MAX_INSTALLED_PRICES, MAX_PRICES } from "./model-prices.ts";
import * as schema from "./schema.ts";
import * as rows from "./sql.ts";

const params = z.object({ id: uuid });

/**
 * Routes of model prices, for runs whose clients report no costs. A change applies to runs stored after
 * it.
 */
export function priceRoutes({ sql, clickhouse, prices }: TraceDeps): Route[] {
  const checkPatterns = async (body: z.output<typeof schema.priceBody>) => {
    for (const field of ["match_pattern", "provider"] as const) {
      const pattern = body[field];
      if (pattern !== null && !(await isPattern(clickhouse, pattern))) {
        throw unprocessable(`${field}: is not a regular expression (RE2)`);
      }
    }
  };

  return [
    route({
      ...v1("/model-price-map"),
      method: "GET",
      tag: "Model prices",
      permission: "runs:read",
      summary: "List model prices: the workspace's own, then Heddle's built-in ones; the first match applies",
      out: { 200: z.array(schema.price) },
      handler: async ({ c, principal }) =>
        c.json(await rows.listPrices(sql, principal.workspaceId, MAX_PRICES + MAX_INSTALLED_PRICES)),
    }),
    route({
      ...v1("/model-price-map"),
      method: "POST",
      tag: "Model prices",
      permission: "workspaces:manage",
      summary: "Add a model price of the workspace",
      body: schema.priceBody,
      out: { 200: schema.price },
      async handler({ c, principal, body }) {
        await checkPatterns(body);
        const row = await rows.insertPrice(sql, principal.workspaceId, uuid7(), body, MAX_PRICES);
        if (!row) throw unprocessable(`A workspace can have at most ${MAX_PRICES} prices`);
        prices.forget(principal.workspaceId);
        return c.json(row);
      },
    }),
    route({
      ...v1("/model-price-map/:id"),
      method: "PUT",
      tag: "Model prices",
      permission: "workspaces:manage",
      summary: "Replace a model price of the workspace",
      params,
      body: schema.priceBody,
      out: { 200: schema.price },
      async handler({ c, principal, params: { id }, body }) {
        await checkPatterns(body);
        const row = await rows.updatePrice(sql, principal.workspaceId, id, body);
        if (!row) throw notFound("Model price not found");
        prices.forget(principal.workspaceId);
        return c.json(row);
      },
    }),
    route({
      ...v1("/model-price-map/:id"),
      method: "DELETE",
      tag: "Model prices",
      permission: "workspaces:manage",
      summary: "Delete a model price of the workspace",
      params,
      out: { 200: z.object({ message: z.string() }) },
      async handler({ c, principal, params: { id } }) {
        if (!(await rows.deletePrice(sql, principal.workspaceId, id))) throw notFound("Model price not found");
        prices.forget(principal.workspaceId);
        return c.json({ message: "Model price deleted" });
      },
    }),
  ];
}
