/** Keys of langgraph.json without effect here: each is rejected or reported, always by name. */
import { z } from "zod";

import { CREDENTIAL_HEADERS } from "../../base/auth/credential-headers.ts";
import { isInternalHeader } from "../../base/http/internal-headers.ts";

import { langgraphJson, type ProjectConfig } from "./schema.ts";

/** Keys that peers implement and Heddle does not. A project that relies on one must not be served without it. */
const REJECTED: Record<string, string> = {
  "node_loader=ts-node": 'Heddle loads TypeScript with tsx; remove the key or set "tsx"',
  "checkpointer.path":
    "Heddle stores checkpoints in its database, where writes of lost runs are fenced off; remove the key, and name " +
    "your Postgres with DATABASE_URI",
  "checkpointer.backend":
    "Heddle stores checkpoints in its database; remove the key, and name your Postgres with DATABASE_URI",
  "checkpointer.serde": "it configures the Python serializer; remove the key",
  source:
    "deployments are installed from a uv.lock beside langgraph.json, or from its dependencies; remove the key, and " +
    "move uv.lock there",
  "store.path": "Heddle keeps the store in its database; remove the key, and name your Postgres with DATABASE_URI",
};

/** Keys without effect when a project is served from its directory, and what they are for. */
const WITHOUT_EFFECT: Record<string, string> = {
  dockerfile_lines: "applies only to deployments that are built as container images",
  base_image: "applies only to deployments that are built as container images",
  docker_compose_file: "has no effect: Heddle starts no other services; start them yourself",
  image_distro: "has no effect: set base_image to an image of the distribution that you need",
  api_version: "has no effect: it selects a version of another server. Heddle's version is that of its package",
  _INTERNAL_docker_tag: "has no effect: it selects a version of another server",
  keep_pkg_tools: "has no effect: Heddle removes no tools from environments",
};

/** Dotted paths of the present keys, with `key=value` for rejected values. */
function presentKeys(config: object): Set<string> {
  const paths = new Set<string>();
  for (const [key, value] of Object.entries(config)) {
    if (value === undefined || value === null) continue;
    paths.add(key);
    if (typeof value === "string") paths.add(`${key}=${value}`);
    if (typeof value === "object" && !Array.isArray(value)) {
      for (const [inner, nested] of Object.entries(value))
        if (nested !== undefined && nested !== null) paths.add(`${key}.${inner}`);
    }
  }
  return paths;
}

/** @returns reasons why the project cannot be served, one sentence per key */
export function rejectedKeys(config: ProjectConfig): string[] {
  const present = presentKeys(config);
  return Object.entries(REJECTED)
    .filter(([key]) => present.has(key))
    .map(([key, why]) => `${key.replace("=", ": ")} is not supported: ${why}`);
}

/** @returns warnings about keys without effect */
export function keyWarnings(config: ProjectConfig, file: string): string[] {
  const present = presentKeys(config);
  const named = (notes: Record<string, string>) =>
    Object.entries(notes).flatMap(([key, note]) => (present.has(key) ? [`"${key}" in ${file} ${note}.`] : []));
  return [
    ...named(WITHOUT_EFFECT),
    ...credentialHeaders(config).map(
      (name) =>
        `http.configurable_headers in ${file} names ${name}, which runs never get, because it carries credentials.`,
    ),
    ...unknownKeys(langgraphJson, config).map((key) => `"${key}" in ${file} is not a key that Heddle knows.`),
  ];
}

const credentialHeaders = ({ http }: ProjectConfig): string[] =>
  (http.configurable_headers?.includes ?? []).filter(
    (name) => CREDENTIAL_HEADERS.includes(name.toLowerCase()) || isInternalHeader(name),
  );

/** Paths unknown to the schema, nested sections included. */
function unknownKeys(schema: z.ZodType, value: unknown, at = ""): string[] {
  const inner = unwrapped(schema);
  if (!(inner instanceof z.ZodObject) || value === null || typeof value !== "object") return [];
  const shape = inner.shape as Record<string, z.ZodType>;
  return Object.entries(value).flatMap(([key, nested]) =>
    key in shape ? unknownKeys(shape[key]!, nested, `${at}${key}.`) : [`${at}${key}`],
  );
}

function unwrapped(schema: z.ZodType): z.ZodType {
  let inner = schema;
  for (;;) {
    if (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable || inner instanceof z.ZodDefault) {
      inner = inner.unwrap() as z.ZodType;
    } else if (inner instanceof z.ZodPipe) inner = inner.in as z.ZodType;
    else return inner;
  }
}
