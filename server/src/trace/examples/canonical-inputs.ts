import { createHash } from "node:crypto";

/** Serializes JSON independently of the order of its names, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, each]) => `${JSON.stringify(name)}:${canonicalJson(each)}`);
  return `{${entries.join(",")}}`;
}

/** Digest of an example's inputs, hexadecimal: equal inputs have the same, whatever the order of their names. */
export const digestInputs = (inputs: unknown): string =>
  createHash("sha256").update(canonicalJson(inputs)).digest("hex");
