import { type AppError, unprocessable } from "../../base/errors.ts";
import type { JsonStructure } from "../../base/json-structure.ts";
import { isUuid } from "../../base/ids.ts";
import { readSingle } from "./read-messages.ts";
import type { Part } from "./read-multipart.ts";
import { RAW_FIELDS, type RawField, type RunMessage } from "./run-piece.ts";

/** Content of a multipart request, assembled from its parts. */
export interface Collected {
  messages: RunMessage[];
  attachments: { runId: string; name: string; type: string; content: Buffer }[];
  /** JSON text, one per feedback. */
  feedback: string[];
}

/** What is known of a request's earlier portions. */
export interface Earlier {
  /** Runs that were created by them, as `post.<id>`. */
  created: Set<string>;
  /** Names of runs whose objects were too large: `post.<id>`. Their fields are left out. */
  rejected: Set<string>;
}

/**
 * Assembles parts. Parts of several runs may be interleaved, and a field may precede its run; creates are moved before
 * updates. Fields of a run that an earlier portion created are an update.
 * @param structure counts the elements of all parts, before any is decoded
 * @throws 422 for a part with an invalid name, 400 for a run whose object is not JSON
 */
export function collectParts(
  parts: readonly Part[],
  structure: JsonStructure,
  { created, rejected }: Earlier = { created: new Set(), rejected: new Set() },
): Collected {
  const collected: Collected = { messages: [], attachments: [], feedback: [] };
  const open = new Map<string, { message: RunMessage; complete: boolean }>();
  for (const { name, content } of parts) if (!name.startsWith("attachment.")) structure.next().add(content);
  for (const part of parts) {
    const [event, id = "", ...rest] = part.name.split(".");
    if (event === "feedback") collected.feedback.push(part.content.toString("utf8"));
    else if (event === "attachment") {
      if (!isUuid(id) || rest.length === 0) throw badName(part.name);
      collected.attachments.push({
        runId: id.toLowerCase(),
        name: rest.join("."),
        type: part.type,
        content: part.content,
      });
    } else if (event === "post" || event === "patch") addRunPart(open, event, id, rest, part);
    else throw badName(part.name);
  }
  for (const [key, { message, complete }] of open) {
    if (rejected.has(key)) continue;
    if (message.kind === "post") {
      if (complete) created.add(key);
      else if (created.has(key)) message.kind = "patch";
      else throw unprocessable(`the part ${key} is missing, or comes too long after its fields`);
    }
    collected.messages.push(message);
  }
  collected.messages.sort((a, b) => Number(a.kind === "patch") - Number(b.kind === "patch"));
  return collected;
}

function addRunPart(
  open: Map<string, { message: RunMessage; complete: boolean }>,
  kind: "post" | "patch",
  id: string,
  rest: string[],
  part: Part,
): void {
  const key = `${kind}.${id}`;
  let entry = open.get(key);
  if (!entry) {
    entry = { message: { kind, id, run: {}, raw: {} }, complete: false };
    open.set(key, entry);
  }
  const text = part.content.toString("utf8");
  if (rest.length === 0) {
    const { run, raw, values } = readSingle(text, kind, id);
    entry.message.run = run;
    // a separate part takes precedence over an inline field
    const given = (entry.message.values ??= {});
    for (const field of RAW_FIELDS) {
      if (raw[field] === undefined || entry.message.raw[field] !== undefined) continue;
      entry.message.raw[field] = raw[field];
      given[field] = values?.[field];
    }
    entry.complete = true;
    return;
  }
  const field = rest.join(".");
  if (!RAW_FIELDS.includes(field as RawField)) throw badName(part.name);
  entry.message.raw[field as RawField] = text;
  delete entry.message.values?.[field as RawField];
}

function badName(name: string): AppError {
  const fields = RAW_FIELDS.join(", ");
  return unprocessable(
    `The part ${JSON.stringify(name.slice(0, 100))} must be one of post.<id>, patch.<id>, the same with .<field> ` +
      `(${fields}), attachment.<id>.<name>, feedback.<id>`,
  );
}
