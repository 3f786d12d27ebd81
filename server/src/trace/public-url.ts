import type { Context } from "hono";

import type { TraceSettings } from "./settings.ts";

/** Where we are reached, without a slash at the end: what the operator says, or how the caller of the moment did. */
export const publicUrl = ({ publicUrl: said }: Pick<TraceSettings, "publicUrl">, c: Context): string =>
  said?.replace(/\/+$/, "") ?? new URL(c.req.url).origin;
