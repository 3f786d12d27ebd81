/** Validates manifests against the API server's own schemas in schemas.json. */
import { Validator, type Schema } from "@cfworker/json-schema";
import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";

import { type Schemas, SCHEMAS_FILE } from "./schemas.ts";

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  [key: string]: unknown;
}

/** Parses the documents of a YAML stream. Throws on duplicate keys and other errors of syntax. */
export function parseManifests(text: string): Manifest[] {
  const documents = parseAllDocuments(text);
  if (!Array.isArray(documents)) return [];
  return documents.flatMap((document) => {
    if (document.errors[0]) throw document.errors[0];
    const value = document.toJS() as Manifest | null;
    return value === null ? [] : [value];
  });
}

const schemas = JSON.parse(readFileSync(SCHEMAS_FILE, "utf8")) as Schemas;

/** Lists the errors of a manifest: unknown fields, wrong types, missing fields. */
export function validateManifest(manifest: Manifest): string[] {
  const name = schemas.kinds[`${manifest.apiVersion}/${manifest.kind}`];
  if (name === undefined) return [`${manifest.apiVersion} ${manifest.kind} is not a kind that schemas.json has`];
  const schema = { $ref: `#/definitions/${name}`, definitions: schemas.definitions } as unknown as Schema;
  const { errors } = new Validator(schema, "7", false).validate(manifest);
  // the innermost errors name the field
  return errors
    .filter(({ keyword }) => !["$ref", "properties", "items"].includes(keyword))
    .map(({ instanceLocation, error }) => `${manifest.kind} ${manifest.metadata.name}: ${instanceLocation} ${error}`);
}
