/**
 * Examples as a multipart body. Part names start with the example's id: `<id>` for the example itself,
 * `<id>.inputs` and `<id>.outputs` for JSON, `<id>.attachment.<name>` for a file, `<id>.attachments_operations` for
 * changes to its existing files.
 */
import type { z } from "zod";

import { AppError, unprocessable } from "../../base/errors.ts";
import { boundedParse } from "../../base/http/bounded-parse.ts";
import { jsonObject } from "../../base/http/fields.ts";
import { describeIssues } from "../../base/http/errors.ts";
import { cleanStrings } from "../../base/http/json-body.ts";
import { JsonStructure, MAX_DEPTH, type StructureLimit } from "../../base/json-structure.ts";
import { isUuid } from "../../base/ids.ts";
import type { Part } from "../ingest/read-multipart.ts";
import { attachmentsPart } from "./schema.ts";

/** Uploaded file. */
export interface ParsedFile {
  mime_type: string;
  content: Buffer;
}

export interface ParsedExample<Info> {
  id: string;
  info: Info;
  inputs: Record<string, unknown> | null;
  outputs: Record<string, unknown> | null;
  files: Record<string, ParsedFile>;
  operations: z.output<typeof attachmentsPart> | null;
}

const NAME = /^(?<id>[^.]+)(?:\.(?<field>inputs|outputs|attachments_operations)|\.attachments?\.(?<file>.+))?$/s;

/**
 * Parses examples in the order of their first parts. @param limit of the request's body @throws 400 for invalid JSON, 413
 * when it would take too much memory, 422 for an invalid part
 */
export function readExampleParts<S extends z.ZodType>(
  parts: Part[],
  infoSchema: S,
  limit: StructureLimit,
): ParsedExample<z.output<S>>[] {
  const structure = new JsonStructure({ ...limit, maxDepth: MAX_DEPTH });
  const examples = new Map<string, ParsedExample<z.output<S>>>();
  for (const part of parts) {
    const { id, field, file } = NAME.exec(part.name)?.groups ?? {};
    if (id === undefined || !isUuid(id)) {
      throw unprocessable(`Part "${part.name}": the name of a part must begin with the example's id, a UUID.`);
    }
    const key = id.toLowerCase();
    let example = examples.get(key);
    if (!example) {
      example = { id: key, info: infoSchema.parse({}), inputs: null, outputs: null, files: {}, operations: null };
      examples.set(key, example);
    }
    if (file === undefined) structure.next().add(part.content);
    if (file !== undefined) example.files[file] = { mime_type: part.type, content: part.content };
    else if (field === "inputs") example.inputs = read(part, jsonObject);
    else if (field === "outputs") example.outputs = read(part, jsonObject.nullable());
    else if (field === "attachments_operations") example.operations = read(part, attachmentsPart);
    else example.info = read(part, infoSchema);
  }
  if (examples.size === 0) throw unprocessable("The request contains no example.");
  return [...examples.values()];
}

function read<S extends z.ZodType>(part: Part, schema: S): z.output<S> {
  let value: unknown;
  try {
    value = JSON.parse(part.content.toString("utf8"));
  } catch {
    throw new AppError(400, `Part "${part.name}" is not JSON.`);
  }
  const parsed = boundedParse(schema, cleanStrings(value));
  if (!parsed.success) throw unprocessable(`Part "${part.name}": ${describeIssues(parsed.error)}`);
  return parsed.data;
}
