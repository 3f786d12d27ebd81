import { TIMEOUT } from "../../base/clickhouse/unavailable.ts";

/** Codes of ClickHouse's errors that a statement causes: unparsable text, wrong types, no such function, too complex. */
const OF_STATEMENT = new Set("6 27 36 41 42 43 44 53 62 69 70 72 131 167 168 306 427".split(" "));
/** It takes too much time or memory. */
const OF_SIZE = new Set([TIMEOUT, "241", "307", "396"]);

const code = (error: unknown): string => (error as { code?: string } | null)?.code ?? "";
export const isOfStatement = (error: unknown): boolean => OF_STATEMENT.has(code(error));
export const isOfSize = (error: unknown): boolean => OF_SIZE.has(code(error));

/** Whether Postgres rejects a value: invalid, too long for a column or an index. */
export const isOfValue = (error: unknown): boolean => /^(22|54)/.test(code(error));
