import type { z } from "zod";

import { AppError, unprocessable } from "../../base/errors.ts";
import { cleanStrings } from "../../base/http/json-body.ts";
import { jsonObject } from "../../base/http/fields.ts";
import { JsonStructure, MAX_DEPTH, parseJson, type StructureLimit } from "../../base/json-structure.ts";
import { takeTurns } from "../../base/take-turns.ts";
import type { Part } from "../ingest/read-multipart.ts";
import { parseCsv } from "./csv.ts";
import { dataType } from "../datasets/schema.ts";
import type { NewExample } from "../examples/write-examples.ts";

/** Table and the roles of its columns, as sent by a form. */
export interface UploadedTable {
  name: string | undefined;
  description: string | null;
  data_type: z.output<typeof dataType>;
  inputs_schema_definition: Record<string, unknown> | null;
  outputs_schema_definition: Record<string, unknown> | null;
  examples: NewExample[];
}

const NOT_BUILT = ["transformations", "input_key_mappings", "output_key_mappings", "metadata_key_mappings"];

/**
 * Parses an upload. @param limit of the request's body @throws 400 and 422 for unreadable input, 413 for one that would
 * take too much memory
 */
export async function readUpload(parts: Part[], limit: StructureLimit): Promise<UploadedTable> {
  const all = (name: string) =>
    parts.filter((part) => part.name === name).map((part) => cleanStrings(part.content.toString("utf8")) as string);
  const last = (name: string) => all(name).at(-1);
  for (const name of NOT_BUILT) {
    if (last(name)) throw unprocessable(`"${name}" is not supported yet; leave it out`);
  }
  const file = parts.find((part) => part.name === "file");
  if (!file) throw unprocessable("file: required");
  const keys = { inputs: all("input_keys"), outputs: all("output_keys"), metadata: all("metadata_keys") };
  if (keys.inputs.length === 0) throw unprocessable("input_keys: at least one column is required");
  const type = dataType.safeParse(last("data_type") ?? "kv");
  if (!type.success) throw unprocessable("data_type: must be kv, llm or chat");
  const records = await readRecords(file, limit);
  return {
    name: last("name") ?? file.filename,
    description: last("description") ?? null,
    data_type: type.data,
    inputs_schema_definition: readSchema(last("inputs_schema_definition")),
    outputs_schema_definition: readSchema(last("outputs_schema_definition")),
    examples: records.map((record, row) => ({
      inputs: pick(record, keys.inputs, row),
      outputs: keys.outputs.length > 0 ? pick(record, keys.outputs, row) : null,
      metadata: pick(record, keys.metadata, row),
    })),
  };
}

function readSchema(text: string | undefined): Record<string, unknown> | null {
  if (!text) return null;
  try {
    return jsonObject.parse(parseJson(text));
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw unprocessable("A schema definition must be a JSON object.");
  }
}

/** Parses JSON Lines, recognized by media type, file name or first character; otherwise CSV with a header line. */
async function readRecords(
  { content: sent, type, filename = "" }: Part,
  limit: StructureLimit,
): Promise<Record<string, unknown>[]> {
  const content = sent.subarray(sent.indexOf(BYTE_ORDER_MARK) === 0 ? BYTE_ORDER_MARK.length : 0);
  const text = cleanStrings(content.toString("utf8")) as string;
  const isLines = /jsonl|ndjson/.test(type) || /\.jsonl$/i.test(filename) || text.trimStart()[0] === "{";
  if (isLines) {
    const structure = new JsonStructure({ ...limit, maxDepth: MAX_DEPTH });
    for await (const slice of slices(content)) structure.add(slice);
    return readLines(text);
  }
  await checkCells(content, limit);
  const turn = takeTurns();
  const records: Record<string, unknown>[] = [];
  let header: string[] | undefined;
  for (const record of parseCsv(text)) {
    await turn();
    if (header === undefined) {
      header = record;
      continue;
    }
    if (records.length >= MAX_ROWS) throw tooManyRows();
    if (record.length !== header.length) {
      throw unprocessable(
        `Row ${records.length + 1} has ${record.length} columns, but the first line names ${header.length}.`,
      );
    }
    records.push(Object.fromEntries(header.map((name, i) => [name, record[i]])));
  }
  if (!header) throw unprocessable("The file is empty.");
  return records;
}

async function readLines(text: string): Promise<Record<string, unknown>[]> {
  const records: Record<string, unknown>[] = [];
  const turn = takeTurns();
  let row = 0;
  // line by line: a file of line breaks only would become as many texts
  for (let at = 0; at < text.length;) {
    if (row % 4096 === 0) await turn();
    if (text.charCodeAt(at) === LF) {
      row++;
      at++;
      continue;
    }
    const end = text.indexOf("\n", at);
    const line = text.slice(at, end < 0 ? text.length : end);
    at = end < 0 ? text.length : end + 1;
    row++;
    if (line.trim() === "") continue;
    if (records.length >= MAX_ROWS) throw tooManyRows();
    try {
      records.push(jsonObject.parse(cleanStrings(JSON.parse(line))));
    } catch {
      throw new AppError(400, `Line ${row} is not a JSON object.`);
    }
  }
  return records;
}

/** Each becomes an example, which takes a kilobyte however short it is. */
const MAX_ROWS = 100_000;
const tooManyRows = () => new AppError(413, `A file can have at most ${MAX_ROWS} rows. Split it.`);

/** Counts cells, as the values of a list of texts. @throws 413 for too many */
async function checkCells(content: Buffer, limit: StructureLimit): Promise<void> {
  const structure = new JsonStructure(limit);
  let isQuoted = false;
  for await (const slice of slices(content)) {
    let cells = 0;
    for (const byte of slice) {
      if (byte === QUOTE) isQuoted = !isQuoted;
      else if (!isQuoted && (byte === COMMA || byte === LF)) cells++;
    }
    structure.addTexts(cells);
  }
}

/** Yields a file part by part, and lets others have the event loop in between. */
async function* slices(content: Buffer): AsyncGenerator<Buffer> {
  const turn = takeTurns();
  for (let at = 0; at < content.length; at += SLICE) {
    await turn();
    yield content.subarray(at, at + SLICE);
  }
}
const SLICE = 1024 * 1024;

const BYTE_ORDER_MARK = Buffer.from("\uFEFF");
const QUOTE = 0x22;
const COMMA = 0x2c;
const LF = 0x0a;

function pick(record: Record<string, unknown>, keys: string[], row: number): Record<string, unknown> {
  const missing = keys.find((key) => !Object.hasOwn(record, key));
  if (missing !== undefined) throw unprocessable(`Row ${row + 1} has no column "${missing}".`);
  return Object.fromEntries(keys.map((key) => [key, record[key]]));
}
