import { z } from "zod";

import { notFound, unprocessable } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import * as schema from "./schema.ts";
import * as rows from "./sql.ts";

const tag = "Playground";
const list = v1("/playground-settings");
const single = v1("/playground-settings/:playground_settings_id");

/** Routes of a workspace's saved configurations of models. */
export function playgroundSettingsRoutes({ sql }: Pick<TraceDeps, "sql">): Route[] {
  const found = (item: string | undefined): Response => {
    if (item === undefined) throw notFound("Playground settings not found");
    return rawJson(item);
  };
  return [
    route({
      tag,
      method: "GET",
      ...list,
      permission: "models:read",
      summary: "List the saved configurations of models",
      out: { 200: z.array(schema.settings) },
      handler: async ({ principal }) =>
        rawJson(await rows.listSettings(sql, principal.workspaceId, schema.MAX_SETTINGS)),
    }),
    route({
      tag,
      method: "POST",
      ...list,
      permission: "models:call",
      summary: "Save a configuration of a model",
      auditFields: ["name"],
      body: schema.createBody,
      out: { 200: schema.settings },
      async handler({ body, principal }) {
        const { workspaceId, actor } = principal;
        const item = await rows.insertSettings(sql, workspaceId, uuid7(), body, actor.userId, schema.MAX_SETTINGS);
        if (item === undefined) {
          throw unprocessable(`A workspace can have at most ${schema.MAX_SETTINGS} playground settings.`);
        }
        return rawJson(item);
      },
    }),
    route({
      tag,
      params: schema.params,
      method: "GET",
      ...single,
      permission: "models:read",
      summary: "Get a saved configuration of a model",
      out: { 200: schema.settings },
      errors: [404],
      handler: async ({ params, principal }) =>
        found(await rows.findSettings(sql, principal.workspaceId, params.playground_settings_id)),
    }),
    route({
      tag,
      params: schema.params,
      method: "PATCH",
      ...single,
      permission: "models:call",
      summary: "Change a saved configuration of a model; null leaves a field unchanged",
      auditFields: ["name"],
      body: schema.patchBody,
      out: { 200: schema.settings },
      errors: [404],
      async handler({ params, body, principal }) {
        const { workspaceId, actor } = principal;
        return found(await rows.updateSettings(sql, workspaceId, params.playground_settings_id, body, actor.userId));
      },
    }),
    route({
      tag,
      params: schema.params,
      method: "DELETE",
      ...single,
      permission: "models:call",
      summary: "Delete a saved configuration of a model",
      out: { 200: z.object({ message: z.string() }) },
      errors: [404],
      async handler({ params, principal, c }) {
        const deleted = await rows.deleteSettings(sql, principal.workspaceId, params.playground_settings_id);
        if (!deleted) throw notFound("Playground settings not found");
        return c.json({ message: "Playground settings deleted" });
      },
    }),
  ];
}
