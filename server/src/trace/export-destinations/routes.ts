import { z } from "zod";

import { v1 } from "../../base/http/aliases.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { createDestination, deleteDestination, rotateCredentials, testDestination, unknown } from "./changes.ts";
import * as schema from "./schema.ts";
import * as rows from "./sql.ts";
import { requireExports } from "./export-plan.ts";

const tag = "Bulk exports";

/**
 * Routes of export destinations. Mounted before /bulk-exports/:id, which would match
 * "destinations" as an id.
 */
export function destinationRoutes(deps: TraceDeps): Route[] {
  const { sql } = deps;
  return [
    route({
      tag,
      method: "GET",
      ...v1("/bulk-exports/destinations"),
      permission: "bulk-exports:read",
      summary: "List export destinations",
      query: schema.listDestinationsQuery,
      out: { 200: z.array(schema.destination) },
      async handler({ query, principal }) {
        requireExports(principal);
        return rawJson(await rows.listDestinations(sql, principal.workspaceId, query));
      },
    }),
    route({
      tag,
      method: "POST",
      ...v1("/bulk-exports/destinations"),
      permission: "bulk-exports:manage",
      summary: "Create an export destination, after a test write to it",
      body: schema.createDestinationBody,
      out: { 200: schema.destination },
      async handler({ body, principal }) {
        requireExports(principal);
        return rawJson(await createDestination(deps, principal.workspaceId, body));
      },
    }),
    route({
      tag,
      method: "GET",
      ...v1("/bulk-exports/destinations/:destination_id"),
      permission: "bulk-exports:read",
      summary: "Get an export destination",
      params: schema.destinationPath,
      out: { 200: schema.destination },
      async handler({ params, principal }) {
        requireExports(principal);
        const item = await rows.getDestination(sql, principal.workspaceId, params.destination_id);
        if (item === undefined) throw unknown(params.destination_id);
        return rawJson(item);
      },
    }),
    route({
      tag,
      method: "PATCH",
      ...v1("/bulk-exports/destinations/:destination_id"),
      permission: "workspaces:manage",
      summary: "Replace an export destination's credentials, after a test write with the new ones",
      params: schema.destinationPath,
      body: schema.updateDestinationBody,
      out: { 200: schema.destination },
      async handler({ params, body, principal }) {
        requireExports(principal);
        const { workspaceId } = principal;
        return rawJson(await rotateCredentials(deps, workspaceId, params.destination_id, body.credentials));
      },
    }),
    route({
      tag,
      method: "POST",
      ...v1("/bulk-exports/destinations/:destination_id/test"),
      permission: "bulk-exports:manage",
      summary: "Write a test object to an export destination with its stored credentials",
      params: schema.destinationPath,
      out: { 200: schema.testedDestination },
      errors: [400],
      async handler({ params, principal, c }) {
        requireExports(principal);
        await testDestination(deps, principal.workspaceId, params.destination_id);
        return c.json({ ok: true as const });
      },
    }),
    route({
      tag,
      method: "DELETE",
      ...v1("/bulk-exports/destinations/:destination_id"),
      permission: "bulk-exports:manage",
      summary: "Delete an export destination that no export refers to, and its credentials",
      params: schema.destinationPath,
      out: { 204: null },
      errors: [409],
      async handler({ params, principal, c }) {
        requireExports(principal);
        await deleteDestination(deps, principal.workspaceId, params.destination_id);
        return c.body(null, 204);
      },
    }),
  ];
}
