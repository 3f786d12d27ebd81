import type { ProjectConfig } from "../project/schema.ts";

type Json = Record<string, unknown>;
type Description = NonNullable<ProjectConfig["auth"]>["openapi"];

/**
 * Merges `auth.openapi` of langgraph.json into the OpenAPI document: its schemes and security requirement replace
 * Heddle's, its paths are added.
 */
export function withProjectAuth(document: Json, auth: Description): Json {
  if (!auth) return document;
  const { securitySchemes, security, paths = {} } = auth;
  const components = document["components"] as Json;
  const ownPaths = document["paths"] as Record<string, Record<string, Json>>;
  const described = Object.entries(ownPaths).map(([path, operations]) => [
    path,
    security ? secured(operations, security) : operations,
  ]);
  return {
    ...document,
    paths: { ...Object.fromEntries(described), ...paths },
    components: securitySchemes ? { ...components, securitySchemes } : components,
    ...(security && { security }),
  };
}

const secured = (operations: Record<string, Json>, security: unknown[]): Record<string, Json> =>
  Object.fromEntries(
    Object.entries(operations).map(([method, operation]) => {
      const isPublic = (operation["security"] as unknown[] | undefined)?.length === 0;
      return [method, isPublic ? operation : { ...operation, security }];
    }),
  );
