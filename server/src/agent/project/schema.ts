/**
 * langgraph.json. Errors stop the start; unknown keys are only reported (`key-notes.ts`),
 * which also rejects, by name, keys that peers implement and Heddle does not.
 */
import { z } from "zod";

import { jsonObject, minutes } from "../../base/http/fields.ts";
import { queueSection } from "./queue-config.ts";
import { webhooksSection } from "./webhook-config.ts";
import { hostsSection } from "./hosts-config.ts";
import { httpSection } from "./http-schema.ts";

const text = z.string().min(1);
/** `./file.ts:export`, relative to langgraph.json. */
const exportPath = text;
const listed = <const T extends string>(values: readonly T[]) =>
  z.enum(values, { error: ({ input }) => `must be one of ${values.join(", ")}, not ${JSON.stringify(input)}` });

const graphSpec = z.union(
  [exportPath, z.object({ path: exportPath, description: z.string().nullish() }).loose()],
  'must be "./file.ts:export" or {"path": "./file.ts:export", "description": …}',
);

const store = z
  .object({
    index: z
      .object({
        dims: z.int().min(1).max(65_535),
        /** A provider's model, such as `openai:text-embedding-3-small`, or `./file.ts:export`. */
        embed: text,
        fields: z.array(text).min(1).nullish(),
      })
      .loose()
      .nullish(),
    ttl: z
      .object({
        refresh_on_read: z.boolean().default(true),
        default_ttl: minutes.nullish(),
        sweep_interval_minutes: minutes.nullish(),
      })
      .loose()
      .nullish(),
  })
  .loose();

const checkpointer = z
  .object({
    ttl: z
      .object({
        strategy: listed(["delete", "keep_latest"]).default("delete"),
        default_ttl: minutes.nullish(),
        sweep_interval_minutes: minutes.default(5),
        sweep_limit: z.int().min(1).default(1000),
      })
      .loose()
      .nullish(),
  })
  .loose();

const authFields = z
  .object({
    path: exportPath.optional(),
    disable_studio_auth: z.boolean().default(false),
    /** Merged into the OpenAPI document. */
    openapi: z
      .object({
        securitySchemes: z.record(z.string(), jsonObject).optional(),
        security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
        paths: z.record(z.string(), jsonObject).optional(),
      })
      .loose()
      .nullish(),
    /** Caches the user that `authenticate` returned for the same values of these headers. */
    cache: z
      .object({
        cache_keys: z.array(text).min(1),
        ttl_seconds: z.number().positive().max(86_400).default(60),
        max_size: z.int().min(1).max(1_000_000).default(1000),
      })
      .loose()
      .nullish(),
  })
  .loose();
// elsewhere an unknown key is a warning; here it would leave the server without authentication
const auth = authFields.refine(
  (value) => value.path !== undefined || Object.keys(value).every((key) => key in authFields.shape),
  { path: ["path"], error: "is required: without a file, auth cannot authenticate callers" },
);

/** A name that may be part of a URL and, with other characters replaced, of a JavaScript identifier. */
const uiName = z.string().regex(/^[\w.@~-]+$/, "names of ui bundles may only contain letters, digits and . _ - ~ @");

export const langgraphJson = z
  .object({
    $schema: z.string().optional(),
    graphs: z.record(text, graphSpec),
    env: z
      .union(
        [z.string(), z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])), z.array(text)],
        "must be a file, a map of variables, or a list of their names",
      )
      .optional(),
    node_version: z
      .union([z.string(), z.number()])
      .refine((version) => /^\d\d$/.test(String(version)) && Number(version) >= 20, {
        error: ({ input }) => `must be "20", "22", "24" or "26", not ${JSON.stringify(input)}`,
      })
      .optional(),
    node_loader: listed(["tsx", "ts-node"]).optional(),
    store: store.nullish(),
    checkpointer: checkpointer.nullish(),
    auth: auth.nullish(),
    http: httpSection.nullish().transform((http) => http ?? httpSection.parse({})),
    webhooks: webhooksSection.nullish(),
    encryption: z.object({ path: exportPath }).loose().nullish(),
    heddle: z.strictObject({ queue: queueSection.nullish(), hosts: hostsSection.nullish() }).nullish(),
    ui: z.record(uiName, exportPath).nullish(),
    ui_config: z
      .object({ shared: z.array(text).optional() })
      .loose()
      .nullish(),
    dependencies: z.array(text).optional(),
    // keys for building an image
    dockerfile_lines: z.array(z.string()).optional(),
    docker_compose_file: text.optional(),
    base_image: text.optional(),
    image_distro: listed(["debian", "wolfi", "bookworm"]).optional(),
    api_version: z
      .string()
      .regex(/^\d+(\.\d+){0,2}([.-]?[\w.]+)?$/, 'must be a version such as "0.7"')
      .optional(),
    _INTERNAL_docker_tag: text.optional(),
    // keys for Python
    python_version: listed(["3.10", "3.11", "3.12", "3.13", "3.14"]).optional(),
    pip_config_file: text.optional(),
    pip_installer: listed(["auto", "pip", "uv"]).optional(),
    keep_pkg_tools: z.union([z.boolean(), z.array(text)]).optional(),
    source: z
      .object({ kind: z.literal("uv"), root: text.nullish(), package: text.nullish() })
      .loose()
      .nullish(),
  })
  .loose()
  .refine((value) => value.api_version === undefined || value._INTERNAL_docker_tag === undefined, {
    message: 'cannot be combined with "_INTERNAL_docker_tag"',
    path: ["api_version"],
  });

export type ProjectConfig = z.output<typeof langgraphJson>;
