import { conflict, notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import * as schema from "./schema.ts";
import { deleteEnvironments, insertEnvironments, selectEnvironments, updateEnvironments } from "./sql.ts";

const shared = { tag: "Prompts", errorFamily: "error" } as const;
const changing = { ...shared, permission: "workspaces:manage" } as const;

const toWire = ({ id, environments }: { id: string; environments: string[] }) => ({
  id,
  environments: environments.map((name) => ({ name })),
});
const unknown = (id: string) => notFound(`The workspace has no configuration of environments with the id ${id}.`);

/**
 * Routes of a workspace's environments: the names of the tags that mark what its stages run. Without a configuration
 * they are staging and production, and reading it is 404 (contract: GET /api/v1/hub/environments).
 */
export function promptEnvironmentRoutes({ sql }: Pick<TraceDeps, "sql">): Route[] {
  return [
    route({
      ...shared,
      method: "GET",
      ...v1("/hub/environments"),
      permission: "prompts:read",
      summary: "Get the environments of the workspace; 404 when they are the default ones, staging and production",
      out: { 200: schema.model },
      errors: [404],
      async handler({ principal, c }) {
        const row = await selectEnvironments(sql, principal.workspaceId);
        if (!row) throw notFound("The workspace has the default environments, staging and production.");
        return c.json(toWire(row));
      },
    }),
    route({
      ...changing,
      method: "POST",
      ...v1("/hub/environments"),
      summary: "Configure the environments of the workspace, at most four",
      body: schema.createBody,
      out: { 200: schema.model },
      errors: [409],
      async handler({ body, principal, c }) {
        const names = body.environments.map(({ name }) => name);
        const row = await insertEnvironments(sql, principal.workspaceId, uuid7(), names);
        if (row) return c.json(toWire(row));
        throw conflict("The workspace has a configuration of environments. Change it by PATCH.");
      },
    }),
    route({
      ...changing,
      method: "PATCH",
      ...v1("/hub/environments/:environments_id"),
      summary: "Replace the environments of the workspace; tags with these names stay",
      params: schema.modelParams,
      body: schema.replaceBody,
      out: { 200: schema.model },
      async handler({ params: { environments_id: id }, body, principal, c }) {
        const names = body.environments.map(({ name }) => name);
        const row = await updateEnvironments(sql, principal.workspaceId, id, names);
        if (!row) throw unknown(id);
        return c.json(toWire(row));
      },
    }),
    route({
      ...changing,
      method: "DELETE",
      ...v1("/hub/environments/:environments_id"),
      summary: "Return to the default environments; tags stay",
      params: schema.modelParams,
      out: { 200: schema.deleted },
      async handler({ params: { environments_id: id }, principal, c }) {
        if (!(await deleteEnvironments(sql, principal.workspaceId, id))) throw unknown(id);
        return c.json({ message: "Environments deleted" });
      },
    }),
  ];
}
