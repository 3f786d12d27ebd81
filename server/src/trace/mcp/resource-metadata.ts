import type { Context, MiddlewareHandler } from "hono";
import { z } from "zod";

import { SCOPES } from "../../identity/oauth/schema.ts";
import { publicUrl } from "../public-url.ts";
import type { TraceSettings } from "../settings.ts";
import { MCP_PATH, METADATA_PATH } from "./paths.ts";

export const resourceMetadataSchema = z.object({
  resource: z.string(),
  resource_name: z.string(),
  authorization_servers: z.array(z.string()).optional(),
  scopes_supported: z.array(z.string()),
  bearer_methods_supported: z.array(z.string()),
});

type PublicUrl = Pick<TraceSettings, "publicUrl">;

/** Describes the MCP server as a protected resource (RFC 9728 §2), whose authorization server is the platform itself. */
export const resourceMetadata = (settings: PublicUrl, c: Context): z.output<typeof resourceMetadataSchema> => ({
  resource: `${publicUrl(settings, c)}${MCP_PATH}`,
  resource_name: "Heddle traces",
  // see identity/oauth/routes.ts
  ...(settings.publicUrl !== undefined && { authorization_servers: [publicUrl(settings, c)] }),
  scopes_supported: [...SCOPES],
  bearer_methods_supported: ["header"],
});

/** Names the metadata in answers of status 401 (RFC 9728 §5.1). */
export const challengeMcp =
  (settings: PublicUrl): MiddlewareHandler =>
  async (c, next) => {
    await next();
    if (c.res.status !== 401 || c.req.path.replace(/\/$/, "") !== MCP_PATH) return;
    const url = `${publicUrl(settings, c)}${METADATA_PATH}${MCP_PATH}`;
    c.res.headers.set("WWW-Authenticate", `Bearer resource_metadata="${url}"`);
  };
