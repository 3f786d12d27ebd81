import { z } from "zod";

import { errorReference, errorStatuses } from "./error-answers.ts";
import type { ErrorMode } from "./errors.ts";
import type { Answer, Route } from "./route.ts";

type Json = Record<string, unknown>;

export interface ApiInfo {
  title: string;
  version: string;
  description: string;
  /** Guides to link to. */
  guides?: { title: string; url: string }[];
  /** Tags that come first; the others follow in the order of their routes. */
  first?: string[];
}

/** Properties of all responses of a space. */
export interface ApiConventions {
  errors: ErrorMode;
  /** Whether there are rate limits, so that every route may respond 429. */
  limited: boolean;
}

/** The three schemes of LangSmith's clients; a tenant id selects a workspace, but never authenticates. */
const SECURITY_SCHEMES = {
  ApiKey: { type: "apiKey", in: "header", name: "X-Api-Key" },
  TenantId: { type: "apiKey", in: "header", name: "X-Tenant-Id" },
  Bearer: { type: "http", scheme: "bearer" },
};
const SECURITY = ["ApiKey", "Bearer"].flatMap((scheme) => [{ [scheme]: [] }, { [scheme]: [], TenantId: [] }]);

/**
 * Generates the OpenAPI 3.1 document of the declared endpoints. Its schemas are those that validate requests; schemas
 * with an id become components.
 */
export function openApiDocument(
  routes: Route[],
  { guides, first = [], ...info }: ApiInfo,
  conventions: ApiConventions,
): Json {
  const schemas: Record<string, Json> = {};
  const paths: Record<string, Json> = {};
  const responses: Record<string, Json> = {};
  for (const route of routes) {
    const errors: Json = {};
    for (const status of errorStatuses(route, conventions.limited)) {
      errors[status] = errorReference(status, route, conventions.errors, responses);
    }
    const path = route.path.replace(PATH_PARAMETER, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, errors, schemas) };
  }
  const used = new Set(routes.map((route) => route.tag));
  const tags = [...new Set([...first.filter((name) => used.has(name)), ...used])].map((name) => ({ name }));
  const components = { schemas, responses, securitySchemes: SECURITY_SCHEMES };
  return { openapi: "3.1.0", info, tags, paths, components, ...(guides && { "x-guides": guides }) };
}

function operation(route: Route, errors: Json, schemas: Record<string, Json>): Json {
  const parameters = [
    ...describePath(route, schemas),
    ...describeParameters(route.query, "query", schemas),
    ...describeParameters(route.headers, "header", schemas),
  ];
  const responses: Json = {};
  for (const [status, out] of Object.entries(route.out)) responses[status] = response(out, schemas);
  for (const [status, error] of Object.entries(errors)) responses[status] ??= error;
  return {
    operationId: operationId(route),
    summary: route.summary,
    tags: [route.tag],
    security: route.permission === "public" ? [] : SECURITY,
    ...(parameters.length > 0 && { parameters }),
    ...(route.body && {
      requestBody: { content: { "application/json": { schema: toSchema(route.body, "input", schemas) } } },
    }),
    ...(route.reads && { requestBody: { content: Object.fromEntries(route.reads.map((type) => [type, {}])) } }),
    responses,
  };
}

/** A parameter of a literal path, and the pattern that it must match. */
const PATH_PARAMETER = /:(\w+)(?:\{([^}]*)\})?/g;

/** Describes each parameter that the literal path names, in its order, by the declared schema if there is one. */
function describePath({ path, params }: Route, schemas: Record<string, Json>): Json[] {
  const declared = new Map(describeParameters(params, "path", schemas).map((each) => [each["name"], each]));
  return [...path.matchAll(PATH_PARAMETER)].map(([, name, pattern]) => {
    const schema = { type: "string", ...(pattern !== undefined && { pattern: `^(?:${pattern})$` }) };
    return declared.get(name) ?? { name, in: "path", required: true, schema };
  });
}

/** Returns an id such as `post_threads_thread_id_runs`. */
const operationId = (route: Route): string =>
  `${route.method.toLowerCase()}_${route.path.replace(/[^\w]+/g, "_").replace(/^_|_$/g, "")}`;

function describeParameters(
  shape: z.ZodType | undefined,
  where: "path" | "query" | "header",
  schemas: Record<string, Json>,
): Json[] {
  if (!shape) return [];
  const { properties = {}, required = [] } = toSchema(shape, "input", schemas) as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: where,
    required: where === "path" || required.includes(name),
    schema,
  }));
}

function response(out: Answer | Answer[] | null, schemas: Record<string, Json>): Json {
  if (out === null) return { description: "Done; no content" };
  const content = Object.fromEntries([out].flat().map((schema) => mediaType(schema, schemas)));
  return { description: "text/event-stream" in content ? "Server-sent events" : "Success", content };
}

function mediaType(out: Answer, schemas: Record<string, Json>): [string, Json] {
  if (typeof out !== "string") return ["application/json", { schema: toSchema(out, "output", schemas) }];
  // an event stream is neither text nor JSON, and OpenAPI 3.1 cannot describe events
  return [out, out === "text/event-stream" ? {} : { schema: { type: "string" } }];
}

/** Converts to JSON Schema 2020-12, the dialect of OpenAPI 3.1; named parts move to `schemas`. */
function toSchema(type: z.ZodType, io: "input" | "output", schemas: Record<string, Json>): Json {
  const text = JSON.stringify(z.toJSONSchema(type, { io, unrepresentable: "any" }));
  const schema = JSON.parse(text.replaceAll('"#/$defs/', '"#/components/schemas/')) as Json & {
    $defs?: Record<string, Json>;
  };
  for (const [name, definition] of Object.entries(schema.$defs ?? {})) schemas[name] ??= without(definition, ["id"]);
  const own = without(schema, ["$schema", "$defs"]);
  const { id } = z.globalRegistry.get(type) ?? {};
  if (id === undefined || "$ref" in own) return own;
  schemas[id] ??= without(own, ["id"]);
  return { $ref: `#/components/schemas/${id}` };
}

const without = (schema: Json, keys: string[]): Json =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => !keys.includes(key)));
