/**
 * Array types of our statements, declared to postgres.js in advance. By default it queries every new connection for all
 * array types and does not await the result: when Postgres dies at that moment, the unhandled rejection crashes the
 * server (postgres.js 3.4.9, `fetchArrayTypes`). This also saves a round trip.
 */
interface ArrayType {
  to: number;
  from: number[];
  serialize(items: Item[]): string;
  parse(text: string): unknown[];
}

type Item = string | number | boolean | null;

const arrayType = (oid: number, parseItem: (text: string) => unknown): ArrayType => ({
  to: oid,
  from: [oid],
  serialize: serializeArray,
  parse: (text) => parseArray(text, parseItem),
});

const asText = (text: string): string => text;

const types = {
  textArray: arrayType(1009, asText),
  varcharArray: arrayType(1015, asText),
  uuidArray: arrayType(2951, asText),
  int2Array: arrayType(1005, Number),
  int4Array: arrayType(1007, Number),
  // may exceed a number, so text, as postgres.js does for bigint itself
  int8Array: arrayType(1016, asText),
  float8Array: arrayType(1022, Number),
  boolArray: arrayType(1000, (text) => text === "t"),
  jsonArray: arrayType(199, JSON.parse),
  jsonbArray: arrayType(3807, JSON.parse),
};

/** Option for `postgres()`. Typed without helpers, to prevent `sql.typed.textArray(…)`. */
export const ARRAY_TYPES = types as object as Record<never, never>;

/** Serializes a one-dimensional array with every item quoted, which Postgres accepts for each item type. */
function serializeArray(items: Item[]): string {
  return `{${items.map((item) => (item === null ? "null" : `"${String(item).replaceAll(/["\\]/g, "\\$&")}"`)).join(",")}}`;
}

function parseArray(text: string, parseItem: (text: string) => unknown): unknown[] {
  const items: unknown[] = [];
  // an item is quoted, with backslash escapes, or bare
  for (const [, quoted, bare] of text.slice(1, -1).matchAll(/"((?:[^"\\]|\\.)*)"|([^",]+)/gs)) {
    if (quoted !== undefined) items.push(parseItem(quoted.replaceAll(/\\(.)/gs, "$1")));
    else items.push(bare === "NULL" ? null : parseItem(bare!));
  }
  return items;
}
