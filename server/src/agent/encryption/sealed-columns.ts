import { mapFields, sealError, sealInterrupts, sealKwargs, sealValues } from "../../../../host-kit/src/sealed-json.ts";
import { ANY_OWNER } from "../../../../host-kit/src/state-cipher.ts";
import type { Resealer } from "./resealer.ts";

/** A row with the texts of the columns that `SealedColumn.beside` names. */
export type RowTexts = Record<string, string>;

/** A column of text or JSON with encrypted values, outside `threads`. */
export interface SealedColumn {
  table: string;
  /** Columns of the primary key, with their types. */
  key: Record<string, string>;
  column: string;
  type: "json" | "jsonb" | "text";
  /** Further columns that `seal` needs. */
  beside?: string[];
  /** Encrypts what the column's writers encrypt. */
  seal(resealer: Resealer, text: string, row: RowTexts): string;
}

const json = (resealer: Resealer, text: string): string => resealer.sealJson(text);
const byRun = { run_id: "uuid" };
const byDelivery = { delivery_id: "uuid" };
const sealThreadKwargs: SealedColumn["seal"] = (resealer, text, row) => sealKwargs(resealer, text, row["thread_id"]!);

export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: "runs", key: byRun, column: "kwargs", type: "jsonb", beside: ["thread_id"], seal: sealThreadKwargs },
  { table: "runs", key: byRun, column: "error", type: "jsonb", seal: sealError },
  {
    table: "crons",
    key: { cron_id: "uuid" },
    column: "payload",
    type: "jsonb",
    seal: (resealer, text) => sealKwargs(resealer, text, ANY_OWNER),
  },
  {
    table: "thread_value_items",
    key: { thread_id: "uuid", channel: "text", position: "integer" },
    column: "item",
    type: "json",
    seal: json,
  },
  {
    table: "thread_signals",
    key: { thread_id: "uuid", name: "text", key: "text" },
    column: "payload",
    type: "jsonb",
    beside: ["thread_id"],
    seal: (resealer, text, row) => resealer.sealJson(text, row["thread_id"]),
  },
  { table: "store_items", key: { namespace: "text[]", key: "text" }, column: "value", type: "jsonb", seal: json },
  {
    table: "run_stream_segments",
    key: { run_id: "uuid", first: "integer" },
    column: "frames",
    type: "text",
    seal: (resealer, text) => resealer.sealText(text),
  },
  {
    table: "webhook_deliveries",
    key: byDelivery,
    column: "state",
    type: "jsonb",
    seal: (resealer, text) => mapFields(text, (value) => resealer.sealJson(value)),
  },
  {
    table: "webhook_deliveries",
    key: byDelivery,
    column: "run_kwargs",
    type: "jsonb",
    beside: ["thread_id"],
    seal: sealThreadKwargs,
  },
  { table: "webhook_deliveries", key: byDelivery, column: "run_error", type: "jsonb", seal: sealError },
];

/** Columns of `threads`, which have triggers and are therefore written together. */
export const THREAD_COLUMNS = { values: sealValues, interrupts: sealInterrupts, error: sealError } as const;
