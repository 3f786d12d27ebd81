import type { Context, MiddlewareHandler } from "hono";
import { z } from "zod";

import { publicUrl } from "../public-url.ts";
import type { TraceDeps } from "../deps.ts";
import { MCP_PATH, METADATA_PATH } from "./paths.ts";

type Settings = TraceDeps["settings"] & TraceDeps["signIn"]["settings"];

export const resourceMetadataSchema = z.object({
  resource: z.string(),
  resource_name: z.string(),
  authorization_servers: z.array(z.string()).optional(),
  scopes_supported: z.array(z.string()).optional(),
  bearer_methods_supported: z.array(z.string()),
});

/** Describes the MCP server as a protected resource (RFC 9728 §2). */
export function resourceMetadata(settings: Settings, c: Context): z.output<typeof resourceMetadataSchema> {
  const { oidcIssuer } = settings;
  return {
    resource: mcpResource(settings, c),
    resource_name: "Heddle traces",
    // without a provider of identities, clients send a key
    ...(oidcIssuer !== undefined && { authorization_servers: [oidcIssuer], scopes_supported: ["openid", "email"] }),
    bearer_methods_supported: ["header"],
  };
}

/** The resource's identifier, which access tokens must name as their audience. */
export const mcpResource = (settings: Settings, c: Context): string => `${publicUrl(settings, c)}${MCP_PATH}`;

/** Names the metadata in answers of status 401 (RFC 9728 §5.1). */
export const challengeMcp =
  (settings: Settings): MiddlewareHandler =>
  async (c, next) => {
    await next();
    if (c.res.status !== 401 || c.req.path.replace(/\/$/, "") !== MCP_PATH) return;
    const url = `${publicUrl(settings, c)}${METADATA_PATH}${MCP_PATH}`;
    c.res.headers.set("WWW-Authenticate", `Bearer resource_metadata="${url}"`);
  };
