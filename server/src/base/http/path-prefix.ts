import { z } from "zod";

import { ConfigError } from "../config/options.ts";

/** Path below which a server is reached, such as `/agents`; without a slash at its end. */
export const pathPrefix = z
  .string()
  .regex(/^(\/(?!\.{1,2}(?:\/|$))[\w.~-]+)+\/?$/, 'must be a path such as "/agents"')
  .transform((path) => path.replace(/\/$/, ""));

/** Parses the value of a setting. */
export function parsePathPrefix(value: string): string {
  const parsed = pathPrefix.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new ConfigError(`${parsed.error.issues[0]!.message}, not "${value}"`);
}
