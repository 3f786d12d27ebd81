import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import * as schema from "./schema.ts";
import { searchEverywhere } from "./search-everywhere.ts";

export function searchRoutes(deps: TraceDeps): Route[] {
  return [
    route({
      tag: "Search",
      method: "GET",
      ...v1("/search"),
      permission: "projects:read",
      summary: "Find anything by name, and runs and threads by content or part of an id",
      query: schema.searchQuery,
      out: { 200: schema.answer },
      async handler({ query, principal, c }) {
        return c.json(await searchEverywhere(deps, principal, query));
      },
    }),
  ];
}
