import type { Context } from "hono";

import type { TraceSettings } from "./settings.ts";

/** Returns the public URL without a trailing slash: the configured one, or the origin of the current request. */
export const publicUrl = ({ publicUrl: configured }: Pick<TraceSettings, "publicUrl">, c: Context): string =>
  configured?.replace(/\/+$/, "") ?? new URL(c.req.url).origin;
