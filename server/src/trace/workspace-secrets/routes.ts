import { z } from "zod";

import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { changeSecrets } from "./change-secrets.ts";
import { MAX_SECRETS, secretName, upsertBody } from "./schema.ts";
import { listSecretKeys } from "./sql.ts";

const shared = { tag: "Workspace secrets", ...v1("/workspaces/current/secrets") } as const;

/** Routes of the secrets that calls to models use. Values are written only; no route returns one. */
export function workspaceSecretRoutes(deps: TraceDeps): Route[] {
  return [
    route({
      ...shared,
      method: "GET",
      permission: "models:read",
      summary: "List the keys of the workspace's secrets",
      out: { 200: z.array(secretName) },
      handler: async ({ principal, c }) => c.json(await listSecretKeys(deps.sql, principal.workspaceId, MAX_SECRETS)),
    }),
    route({
      ...shared,
      method: "POST",
      permission: "models:manage",
      summary: "Store secrets of the workspace, or delete those whose value is null",
      body: upsertBody,
      out: { 200: z.object({ message: z.string() }) },
      async handler({ body, principal, c }) {
        await changeSecrets(deps, principal.workspaceId, body);
        return c.json({ message: "Secrets updated" });
      },
    }),
  ];
}
