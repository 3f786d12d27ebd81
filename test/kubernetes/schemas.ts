/**
 * JSON Schemas of the kinds that the chart and the control plane create, read from a running API server. They are
 * stored in schemas.json, so that manifests can be validated without a cluster.
 */
import type { KubeClient } from "./kube-client.ts";

export const SCHEMAS_FILE = new URL("schemas.json", import.meta.url);

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Schema = Record<string, Json>;

/** API groups, with the kinds whose schemas are stored. */
const KINDS: Record<string, string[]> = {
  "api/v1": ["Service", "ServiceAccount", "Secret", "ConfigMap", "PersistentVolumeClaim", "Namespace"],
  "apis/apps/v1": ["Deployment"],
  "apis/policy/v1": ["PodDisruptionBudget"],
  "apis/networking.k8s.io/v1": ["Ingress", "NetworkPolicy"],
  "apis/rbac.authorization.k8s.io/v1": ["Role", "RoleBinding"],
  "apis/autoscaling/v2": ["HorizontalPodAutoscaler"],
};

export interface Schemas {
  version: string;
  /** Name of the definition of `apiVersion/kind`. */
  kinds: Record<string, string>;
  definitions: Record<string, Schema>;
}

/** Reads the schemas without descriptions. They are strict: a field that the API server does not know is an error. */
export async function readSchemas(client: KubeClient, version: string): Promise<Schemas> {
  const schemas: Schemas = { version, kinds: {}, definitions: {} };
  for (const [group, kinds] of Object.entries(KINDS)) {
    const { components } = await client.call<{ components: { schemas: Record<string, Schema> } }>(
      "GET",
      `/openapi/v3/${group}`,
    );
    const apiVersion = group.replace(/^apis?\//, "");
    for (const kind of kinds) {
      const name = Object.keys(components.schemas).find((key) => isKind(components.schemas[key]!, apiVersion, kind));
      if (name === undefined) throw new Error(`the API server does not know ${apiVersion} ${kind}`);
      schemas.kinds[`${apiVersion}/${kind}`] = shortName(name);
      collect(name, components.schemas, schemas.definitions);
    }
  }
  return schemas;
}

function isKind(schema: Schema, apiVersion: string, kind: string): boolean {
  const kinds = (schema["x-kubernetes-group-version-kind"] ?? []) as { group: string; version: string; kind: string }[];
  return kinds.some(
    (entry) => entry.kind === kind && [entry.group, entry.version].filter(Boolean).join("/") === apiVersion,
  );
}

const shortName = (name: string): string => name.split(".").slice(-2).join(".");

function collect(name: string, all: Record<string, Schema>, found: Record<string, Schema>): void {
  const short = shortName(name);
  if (short in found) return;
  found[short] = {};
  found[short] = compact(all[name]!, (reference) => {
    const next = reference.replace("#/components/schemas/", "");
    collect(next, all, found);
    return `#/definitions/${shortName(next)}`;
  });
}

function compact(schema: Schema, refer: (reference: string) => string): Schema {
  const { allOf, $ref, type, properties, items, additionalProperties, required, oneOf, enum: values } = schema;
  // a reference with a default
  const reference = ($ref ?? (Array.isArray(allOf) ? (allOf[0] as Schema)["$ref"] : undefined)) as string | undefined;
  if (reference !== undefined) return { $ref: refer(reference) };
  const result: Schema = {};
  if (type !== undefined) result["type"] = type;
  if (oneOf !== undefined) result["oneOf"] = (oneOf as Schema[]).map((each) => compact(each, refer));
  if (values !== undefined) result["enum"] = values;
  if (required !== undefined) result["required"] = required;
  if (items !== undefined) result["items"] = compact(items as Schema, refer);
  if (properties !== undefined) {
    const entries = Object.entries(properties as Record<string, Schema>);
    result["properties"] = Object.fromEntries(entries.map(([key, value]) => [key, compact(value, refer)]));
    result["additionalProperties"] = false;
  } else if (typeof additionalProperties === "object") {
    result["additionalProperties"] = compact(additionalProperties as Schema, refer);
  }
  return result;
}
