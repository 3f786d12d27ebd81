/** Which parts of stored JSON are encrypted: those that no statement looks at. */
import { skipString, skipValue } from "./json-scan.ts";
import { splitArray } from "./split-array.ts";
import type { JsonSealer } from "./state-cipher.ts";

/** Changes the values of an object's fields, which need not be parsed: numbers keep all of their digits. */
export function mapFields(json: string, change: (value: string, key: string) => string): string {
  const skipSpace = (from: number): number => {
    let at = from;
    while (" \n\r\t".includes(json[at] ?? "x")) at += 1;
    return at;
  };
  let at = skipSpace(0);
  if (json[at] !== "{") return json;
  const fields: string[] = [];
  at = skipSpace(at + 1);
  while (json[at] !== "}") {
    const keyEnd = skipString(json, at);
    const key = json.slice(at, keyEnd);
    const from = skipSpace(skipSpace(keyEnd) + 1);
    const to = skipValue(json, from);
    fields.push(`${key}:${change(json.slice(from, to), JSON.parse(key) as string)}`);
    at = skipSpace(to);
    if (json[at] === ",") at = skipSpace(at + 1);
  }
  return `{${fields.join(",")}}`;
}

const mapItems = (json: string, change: (item: string) => string): string => {
  const items = splitArray(json);
  return items ? `[${items.map(change).join(",")}]` : json;
};

/** Encrypts a state, the JSON text of a `RunResult`: values channel by channel, long lists item by item. */
export function sealState(cipher: JsonSealer, state: string): string {
  const seal = (json: string): string => cipher.sealJson(json);
  return mapFields(state, (value, key) => {
    if (key === "values") return sealValues(cipher, value);
    if (key === "lists")
      return mapFields(value, (list) =>
        mapFields(list, (field, name) => (name === "items" ? mapItems(field, seal) : field)),
      );
    if (key === "interrupts") return sealInterrupts(cipher, value);
    return value;
  });
}

/** Encrypts the values of a state channel by channel. */
export const sealValues = (cipher: JsonSealer, values: string): string =>
  values.startsWith("{") ? mapFields(values, (value) => cipher.sealJson(value)) : cipher.sealJson(values);

/** Statements read the ids of interrupts, by task, and what a thread waits for (waits.sql). */
export const sealInterrupts = (cipher: JsonSealer, interrupts: string): string =>
  mapFields(interrupts, (list) =>
    mapItems(list, (interrupt) =>
      mapFields(interrupt, (field, name) => (name === "value" ? sealQuestion(cipher, field) : field)),
    ),
  );

const sealQuestion = (cipher: JsonSealer, value: string): string =>
  value.startsWith("{") && value.includes('"heddle_wait"')
    ? mapFields(value, (field, name) => (name === "heddle_wait" ? field : cipher.sealJson(field)))
    : cipher.sealJson(value);

/** Encrypts what a run's definition contains of its caller's: input, answers and context. */
export function sealKwargs(cipher: JsonSealer, kwargs: string, owner: string): string {
  const seal = (json: string): string => cipher.sealJson(json, owner);
  return mapFields(kwargs, (value, key) => {
    if (key === "input") return seal(value);
    // an assistant's context is merged with it, key by key
    if (key === "context") return value.startsWith("{") ? mapFields(value, seal) : seal(value);
    if (key === "command")
      return mapFields(value, (part, name) =>
        name === "resume" && namesInterrupts(part) ? mapFields(part, seal) : seal(part),
      );
    return value;
  });
}

/** Whether a resume value names the interrupts that it answers (migrations/postgres/functions/questions.sql). */
function namesInterrupts(resume: string): boolean {
  if (!resume.startsWith("{")) return false;
  const keys = Object.keys(JSON.parse(resume) as object);
  return keys.length > 0 && keys.every((key) => /^[0-9a-f]{32}$/.test(key));
}

/** Encrypts the message of an error, which often quotes what the graph was given; its name stays. */
export const sealError = (cipher: JsonSealer, error: string): string =>
  mapFields(error, (value, key) => (key === "error" ? value : cipher.sealJson(value)));
