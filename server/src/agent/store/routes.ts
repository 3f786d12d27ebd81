import { z } from "zod";

import type { Principal } from "../../base/auth/principal.ts";
import { AppError, forbidden, unprocessable } from "../../base/errors.ts";
import { rawJson } from "../../base/http/route.ts";
import { agentRoute, type AgentRoute, onSearch } from "../custom-auth/agent-route.ts";
import type { AgentDeps } from "../deps.ts";
import { checkKey } from "./check-key.ts";
import { toConditions } from "./filter.ts";
import * as schema from "./schema.ts";
import * as rows from "./sql.ts";

const shared = { tag: "Store" } as const;

const noIndex = (field: string) => unprocessable(`"${field}" needs an index: configure store.index in langgraph.json.`);

export function storeRoutes({ sql, store }: Pick<AgentDeps, "sql" | "store">): AgentRoute[] {
  /** Responds with 403 for items that the project's own rules hide from the caller. */
  async function rejectForeign(sees: Principal["sees"], item: Parameters<typeof rows.mayWriteItem>[1]): Promise<void> {
    if (sees?.length && !(await rows.mayWriteItem(sql, item, sees))) throw forbidden("Forbidden");
  }

  return [
    agentRoute({
      ...shared,
      method: "PUT",
      path: "/store/items",
      permission: "store:write",
      audit: "data",
      auth: onSearch("store:put", ["namespace", "key", "value", "index"]),
      summary: "Store or replace an item",
      body: schema.putBody,
      out: { 204: null },
      errors: [502],
      async handler({ body: { namespace, key, value, index, ttl }, c, principal: { sees } }) {
        if (namespace.length === 0) throw new AppError(400, "Namespace is required");
        checkKey(namespace, key);
        if (Array.isArray(index) && !store.index) throw noIndex("index");
        await rejectForeign(sees, { namespace, key, value });
        await rows.putItems(sql, await store.prepare([{ namespace, key, value, index, ttl }]), sees);
        return c.body(null, 204);
      },
    }),
    agentRoute({
      ...shared,
      method: "GET",
      path: "/store/items",
      permission: "store:read",
      auth: onSearch("store:get", ["namespace", "key"]),
      summary: "Get an item, or null",
      query: schema.getQuery,
      out: { 200: schema.item.nullable() },
      async handler({ query: { namespace, key, refresh_ttl }, principal: { sees } }) {
        const refresh = refresh_ttl ?? store.refreshOnRead;
        const items = await rows.selectItems(sql, [{ namespace, key, refresh }], sees);
        // unwraps the JSON array of one element
        return rawJson(items.slice(1, -1));
      },
    }),
    agentRoute({
      ...shared,
      method: "DELETE",
      path: "/store/items",
      permission: "store:write",
      audit: "data",
      auth: onSearch("store:delete", ["namespace", "key"]),
      summary: "Delete an item",
      body: schema.deleteBody,
      out: { 204: null },
      async handler({ body, c, principal: { sees } }) {
        const item = { namespace: body.namespace ?? [], key: body.key, value: null };
        await rejectForeign(sees, item);
        await rows.putItems(sql, await store.prepare([item]), sees);
        return c.body(null, 204);
      },
    }),
    agentRoute({
      ...shared,
      method: "POST",
      path: "/store/items/search",
      permission: "store:read",
      auth: onSearch("store:search", [["namespace", "namespace_prefix"], "filter", "query", "limit", "offset"]),
      summary: "Search items under a namespace, newest first or by semantic similarity",
      body: schema.searchBody,
      out: { 200: z.object({ items: z.array(schema.item) }) },
      errors: [502],
      async handler({ body: { namespace_prefix, filter, limit, offset, query, refresh_ttl }, principal: { sees } }) {
        const conditions = toConditions(filter);
        if (query && !store.index) throw noIndex("query");
        const likeness = query ? await store.index!.likeness(query) : null;
        const refresh = refresh_ttl ?? store.refreshOnRead;
        const search = { prefix: namespace_prefix ?? [], conditions, limit, offset, refresh, sees };
        const items = await rows.searchItems(sql, search, likeness);
        return rawJson(`{"items":${items}}`);
      },
    }),
    agentRoute({
      ...shared,
      method: "POST",
      path: "/store/namespaces",
      permission: "store:read",
      auth: onSearch("store:list_namespaces", [["namespace", "prefix"], "suffix", "max_depth", "limit", "offset"]),
      summary: "List namespaces",
      body: schema.namespacesBody,
      out: { 200: z.object({ namespaces: z.array(z.array(z.string())) }) },
      async handler({ body, principal }) {
        const conditions: rows.NamespaceSearch["conditions"] = [];
        if (body.prefix?.length) conditions.push({ match_type: "prefix", path: body.prefix });
        if (body.suffix?.length) conditions.push({ match_type: "suffix", path: body.suffix });
        const { max_depth: maxDepth = null, limit, offset } = body;
        const search = { conditions, maxDepth, limit, offset };
        return rawJson(`{"namespaces":${await rows.listNamespaces(sql, search, principal.sees)}}`);
      },
    }),
  ];
}
