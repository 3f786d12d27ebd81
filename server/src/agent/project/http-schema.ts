/** `http` of langgraph.json. */
import { z } from "zod";

const off = z.boolean().default(false);

const isPattern = (source: string): boolean => {
  try {
    new RegExp(source);
    return true;
  } catch {
    return false;
  }
};

const origin = z.string().refine((text) => text === "*" || (URL.canParse(text) && new URL(text).origin === text), {
  error: ({ input }) => `must be origins such as https://app.example, or "*", not ${JSON.stringify(input)}`,
});

const cors = z
  .object({
    allow_origins: z.array(origin).optional(),
    /** Takes precedence over `allow_origins`; must match the whole origin. */
    allow_origin_regex: z.string().refine(isPattern, "must be a regular expression").optional(),
    allow_methods: z.array(z.string().min(1)).optional(),
    allow_headers: z.array(z.string().min(1)).optional(),
    allow_credentials: z.boolean().optional(),
    expose_headers: z.array(z.string().min(1)).optional(),
    /** Seconds. */
    max_age: z.int().min(0).optional(),
  })
  .loose()
  .refine((value) => !value.allow_credentials || value.allow_origin_regex !== undefined || !openToAll(value), {
    message: 'cannot be true when every origin is allowed; list the origins in "allow_origins"',
    path: ["allow_credentials"],
  });

const openToAll = ({ allow_origins }: { allow_origins?: string[] | undefined }): boolean =>
  allow_origins === undefined || allow_origins.includes("*");

/** Header names; `*` stands for any part of a name. */
const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9a-zA-Z-]+$/, "must be header names, with * as a wildcard");
const headers = z.object({ includes: z.array(headerName).nullish(), excludes: z.array(headerName).nullish() }).loose();

export const prefix = z
  .string()
  .regex(/^(\/(?!\.{1,2}(?:\/|$))[\w.~-]+)+\/?$/, 'must be a path such as "/agents"')
  .transform((path) => path.replace(/\/$/, ""));

export const httpSection = z
  .object({
    /** `file:export` of a Hono app. */
    app: z.string().min(1).optional(),
    cors: cors.optional(),
    configurable_headers: headers.optional(),
    logging_headers: headers.optional(),
    middleware_order: z.enum(["middleware_first", "auth_first"]).default("middleware_first"),
    enable_custom_route_auth: off,
    mount_prefix: prefix.optional(),
    disable_assistants: off,
    disable_threads: off,
    disable_runs: off,
    disable_store: off,
    disable_meta: off,
    disable_mcp: off,
    disable_a2a: off,
    disable_ui: off,
    disable_webhooks: off,
  })
  .loose();

export type HttpSection = z.output<typeof httpSection>;
export type CorsSection = z.output<typeof cors>;
export type HeaderRules = z.output<typeof headers>;
