import { z } from "zod";

import { AppError } from "../../base/errors.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import type { AgentDeps } from "../deps.ts";
import { checkKey } from "./check-key.ts";
import { toConditions } from "./filter.ts";
import * as schema from "./schema.ts";
import * as rows from "./sql.ts";

const shared = { tag: "Store" } as const;

export function storeRoutes({ sql }: Pick<AgentDeps, "sql">): Route[] {
  return [
    route({
      ...shared,
      method: "PUT",
      path: "/store/items",
      permission: "store:write",
      audit: "data",
      summary: "Store or replace an item",
      body: schema.putBody,
      out: { 204: null },
      async handler({ body: { namespace, key, value }, c }) {
        if (namespace.length === 0) throw new AppError(400, "Namespace is required");
        checkKey(namespace, key);
        await rows.putItems(sql, [{ namespace, key, value }]);
        return c.body(null, 204);
      },
    }),
    route({
      ...shared,
      method: "GET",
      path: "/store/items",
      permission: "store:read",
      summary: "Get an item, or null",
      query: schema.getQuery,
      out: { 200: schema.item.nullable() },
      async handler({ query }) {
        const items = await rows.selectItems(sql, [query]);
        // the one element of a JSON array of one
        return rawJson(items.slice(1, -1));
      },
    }),
    route({
      ...shared,
      method: "DELETE",
      path: "/store/items",
      permission: "store:write",
      audit: "data",
      summary: "Delete an item",
      body: schema.deleteBody,
      out: { 204: null },
      async handler({ body, c }) {
        await rows.putItems(sql, [{ namespace: body.namespace ?? [], key: body.key, value: null }]);
        return c.body(null, 204);
      },
    }),
    route({
      ...shared,
      method: "POST",
      path: "/store/items/search",
      permission: "store:read",
      summary: "Search items below a namespace, newest first",
      body: schema.searchBody,
      out: { 200: z.object({ items: z.array(schema.item) }) },
      async handler({ body: { namespace_prefix, filter, limit, offset } }) {
        const conditions = toConditions(filter);
        const items = await rows.searchItems(sql, { prefix: namespace_prefix ?? [], conditions, limit, offset });
        return rawJson(`{"items":${items}}`);
      },
    }),
    route({
      ...shared,
      method: "POST",
      path: "/store/namespaces",
      permission: "store:read",
      summary: "List namespaces",
      body: schema.namespacesBody,
      out: { 200: z.object({ namespaces: z.array(z.array(z.string())) }) },
      async handler({ body }) {
        const conditions: rows.NamespaceSearch["conditions"] = [];
        if (body.prefix?.length) conditions.push({ match_type: "prefix", path: body.prefix });
        if (body.suffix?.length) conditions.push({ match_type: "suffix", path: body.suffix });
        const { max_depth: maxDepth = null, limit, offset } = body;
        return rawJson(`{"namespaces":${await rows.listNamespaces(sql, { conditions, maxDepth, limit, offset })}}`);
      },
    }),
  ];
}
