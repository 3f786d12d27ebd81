/** Parts of tools' inputs and outputs. */
import { z } from "zod";

import { ToolError } from "./tool-error.ts";

export const uuid = z.guid();

export const project = z
  .string()
  .min(1)
  .max(2000)
  .describe("Name or id of a tracing project; list_projects lists them.");
export const dataset = z.string().min(1).max(2000).describe("Name or id of a dataset; list_datasets lists them.");

export const limit = (fallback: number, max: number) =>
  z.int().min(1).max(max).default(fallback).describe(`Items per page, at most ${max}.`);

export const cursor = z.string().max(2000).optional().describe("next_cursor of the page before.");
export const nextCursor = z.string().nullable().describe("Pass as cursor for the next page; null on the last one.");

export const valueCharacters = z
  .int()
  .min(0)
  .max(1_000_000)
  .default(500)
  .describe("Longest input or output in characters of JSON; longer ones are cut. read_run_field reads the rest.");

export const time = z
  .string()
  .max(64)
  .describe('ISO 8601 time (UTC without a zone), or an age: "30m", "24h", "7d", "2w".');

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** Converts a time or an age to ISO 8601. */
export function toTime(text: string | undefined, now = Date.now()): string | undefined {
  if (text === undefined) return undefined;
  const age = /^(\d{1,6})([mhdw])$/.exec(text.trim());
  if (age) return new Date(now - Number(age[1]) * UNITS[age[2] as keyof typeof UNITS]).toISOString();
  if (/^\d{4}-\d\d-\d\d/.test(text)) return text;
  throw new ToolError(`"${text}" is not a time. Use ISO 8601, such as 2026-11-28T14:00:00Z, or an age, such as 24h.`);
}

/** Reads the cursor of lists that are paged by position. */
export function toOffset(text: string | undefined): number {
  if (text === undefined) return 0;
  if (!/^\d{1,9}$/.test(text)) throw new ToolError("The cursor is not one of this tool. Start again without it.");
  return Number(text);
}

/** Returns the cursor after a page of `count` items, of which there may be more if it is full. */
export const after = (offset: number, count: number, size: number): string | null =>
  count < size ? null : String(offset + count);

/** A JSON value, or the beginning of its text. */
export interface Clipped {
  value: unknown;
  /** Length of the text of the whole value. */
  characters: number;
  clipped: boolean;
}

/** Cuts a value whose JSON text is longer than `max` characters. */
export function clip(value: unknown, max: number): Clipped {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "null");
  if (text.length <= max) return { value: value ?? null, characters: text.length, clipped: false };
  // a cut through a surrogate pair would not be valid text
  const kept = text.slice(0, max).replace(/[\uD800-\uDBFF]$/, "");
  return { value: `${kept}… [cut: ${text.length} characters]`, characters: text.length, clipped: true };
}
