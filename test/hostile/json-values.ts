/**
 * Hostile JSON: valid values in which some nodes are replaced, nested, repeated, renamed or removed, and what JSON text
 * can say and JavaScript values cannot (numbers out of range, a name twice).
 */
import fc from "fast-check";

import { joinPieces, type Piece, type Pieces } from "./pieces.ts";

/** JSON text that no JavaScript value serializes to. */
export class Raw {
  readonly pieces: Pieces;
  constructor(...pieces: Piece[]) {
    this.pieces = pieces;
  }
}

export function writeJson(value: unknown): Piece[] {
  return joinPieces(write(value));
}

function write(value: unknown): Piece[] {
  if (value instanceof Raw) return [...value.pieces];
  if (value === undefined) return ["null"];
  if (Array.isArray(value)) {
    return ["[", ...value.flatMap((item, n) => [...(n > 0 ? [","] : []), ...write(item)]), "]"];
  }
  if (value !== null && typeof value === "object") {
    const entries = Object.entries(value);
    const fields = entries.flatMap(([name, item], n) => [
      ...(n > 0 ? [","] : []),
      `${JSON.stringify(name)}:`,
      ...write(item),
    ]);
    return ["{", ...fields, "}"];
  }
  return [JSON.stringify(value)];
}

export const HOSTILE_TEXTS: readonly string[] = [
  "",
  "\0",
  "a\0b",
  "\uD800",
  "\uDFFFx",
  "𝕏\u202Eexe",
  "\u2028\u2029\r\n\t\b\x1b[31m",
  "../../etc/passwd",
  "..%2f..%2fetc%2fpasswd",
  "/proc/self/environ",
  "' or 1=1; drop table runs; --",
  "{{7*7}}${7*7}",
  "%s%n%00",
  "__proto__",
  "constructor",
  "toString",
  "[[[[",
  '{"a":',
  "%",
  "9".repeat(400),
  "-1",
  "1e400",
  "NaN",
  "null",
  "0x10",
  "99999-12-31T99:99:99Z",
  "0000-00-00T00:00:00Z",
  "+275760-09-13T00:00:00.001Z",
  "1970-01-01T00:00:00+99:99",
  "294277-01-01T00:00:00Z",
  "00000000-0000-0000-0000-000000000000",
  "file:///etc/passwd",
  "http://169.254.169.254/latest",
  "javascript:alert(1)",
  "(a+)+$",
  "\\",
  "\\u0000",
  "{}",
  "a.b.c",
  "*",
  "😀".repeat(100),
  "İ".repeat(50),
];

const HOSTILE_NUMBERS: readonly string[] = [
  ...["0", "-0", "-1", "1", "0.1", "2147483648", "-2147483649", "4294967296", "9007199254740993"],
  ...["9223372036854775808", "18446744073709551616", "1e308", "-1e308", "1e309", "5e-324", "1e-400", "1E+2"],
  ...["9".repeat(400), "0." + "3".repeat(400)],
];
const NO_JSON: readonly string[] = [
  "NaN",
  "Infinity",
  "undefined",
  "01",
  "'x'",
  "",
  "{,}",
  "[1,]",
  "\\",
  "\0",
  "truefalse",
];
const HOSTILE_NAMES: readonly string[] = [
  ...["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "then", "toJSON", "length", ""],
  ...["\0", "a\0", "\uD800", "a.b", "$ref", "$where", "x".repeat(300), "x".repeat(70_000), "..", "id", "tenant_id"],
];

/** A number of elements, levels or characters: mostly some thousand, sometimes millions. */
export const sizes = (): fc.Arbitrary<number> =>
  fc
    .oneof({ weight: 12, arbitrary: fc.nat(28) }, { weight: 1, arbitrary: fc.nat(42) })
    .map((log) => Math.floor(2 ** (log / 2)));

const MUTATIONS = {
  number: ({ pick }) => new Raw(HOSTILE_NUMBERS[pick % HOSTILE_NUMBERS.length]!),
  text: ({ pick }) => HOSTILE_TEXTS[pick % HOSTILE_TEXTS.length],
  type: ({ pick }) => [null, true, false, [], {}, "", 0, [[]], [{}], [null], { "": null }][pick % 11],
  "no JSON": ({ pick }) => new Raw(NO_JSON[pick % NO_JSON.length]!),
  id: ({ pick, ids }) => (ids.length > 0 ? ids[pick % ids.length] : null),
  ids: ({ size, pick, ids }) =>
    Array.from({ length: Math.min(size, 2000) }, (_, n) => ids[(pick + n) % ids.length] ?? ""),
  long: ({ size, pick }) => {
    const unit = ["x", "\\u0000", "é", "\\ud800", "\\n", "𝕏", '\\"', "a.", "/../", "[0]"][pick % 10]!;
    return new Raw('"', { repeat: unit, times: size }, '"');
  },
  digits: ({ size }) => new Raw("1", { repeat: "0", times: Math.min(size, 1_000_000) }),
  deep: ({ node, size, pick }) => {
    const [open, close] = [
      ["[", "]"],
      ['{"a":', "}"],
      ['[{"a":', "}]"],
    ][pick % 3] as [string, string];
    return new Raw({ repeat: open, times: size }, ...write(node), { repeat: close, times: size });
  },
  wide: ({ node, size, pick }) => {
    const own = write(node);
    const item = [
      "{}",
      "[]",
      "0",
      '""',
      "null",
      "[[]]",
      "1e308",
      own.every((part) => typeof part === "string") ? own.join("") : "{}",
    ];
    return new Raw("[", { repeat: `${item[pick % item.length]},`.replaceAll("#", ""), times: size }, "{}]");
  },
  names: ({ size, pick }) => {
    const item = ["{}", "0", "[]", '""'][pick % 4]!;
    return new Raw("{", { repeat: `"k#":${item},`, times: size }, '"z":0}');
  },
  "same names": ({ size }) => new Raw("{", { repeat: '"a":{"b":1},', times: size }, '"a":0}'),
  repeated: ({ node, size }) =>
    Array.isArray(node) && node.length > 0
      ? Array.from({ length: Math.min(size, 3000) }, (_, n) => node[n % node.length] as unknown)
      : [node, node],
  wrapped: ({ node, pick }) => [[node], { value: node }, [[node]], { "": node }][pick % 4],
  extra: ({ node, pick }) =>
    withField(node, HOSTILE_NAMES[pick % HOSTILE_NAMES.length]!, ["x", {}, { x: 1 }, null][pick % 4]),
  twice: ({ node }) => {
    const [name, value] = isObject(node) ? (Object.entries(node)[0] ?? ["a", 1]) : ["a", node];
    const fields = isObject(node) ? write(node).slice() : ["{}"];
    const field = [`${JSON.stringify(name)}:`, ...write(value)];
    const rest = Object.keys(isObject(node) ? node : {}).length > 0 ? [","] : [];
    return new Raw("{", ...field, ",", ...field, ...rest, ...withoutBraces(fields));
  },
  renamed: ({ node, pick }) => {
    if (!isObject(node)) return node;
    const entries = Object.entries(node);
    const name = HOSTILE_NAMES[pick % HOSTILE_NAMES.length]!;
    return Object.fromEntries(
      entries.map(([key, value], n) => (n === pick % entries.length ? [name, value] : [key, value])),
    );
  },
  fewer: ({ node, pick }) => {
    if (Array.isArray(node)) return node.slice(1) as unknown;
    if (!isObject(node)) return null;
    const entries = Object.entries(node);
    return Object.fromEntries(entries.filter((_, n) => n !== pick % entries.length));
  },
} satisfies Record<string, (place: Place) => unknown>;

interface Place {
  node: unknown;
  size: number;
  pick: number;
  ids: readonly string[];
}

export interface Mutation {
  kind: keyof typeof MUTATIONS;
  /** Which node: the n-th, counted around. */
  at: number;
  size: number;
  pick: number;
}

export const mutations = (maxLength = 3): fc.Arbitrary<Mutation[]> =>
  fc.array(
    fc.record({
      kind: fc.constantFrom(...(Object.keys(MUTATIONS) as Mutation["kind"][])),
      at: fc.nat(200),
      size: sizes(),
      pick: fc.nat(200),
    }),
    { maxLength },
  );

/** Applies mutations one after another. `ids` are those of the caller's and of others' objects. */
export function mutate(value: unknown, list: readonly Mutation[], ids: readonly string[]): unknown {
  return list.reduce((whole, { kind, at, size, pick }) => {
    const paths = [...listPaths(whole)];
    const path = paths[at % paths.length]!;
    return replaceAt(whole, path, (node) => MUTATIONS[kind]({ node, size, pick, ids }));
  }, value);
}

type Path = readonly (string | number)[];
const MAX_NODES = 400;

function* listPaths(root: unknown): Iterable<Path> {
  const queue: [Path, unknown][] = [[[], root]];
  for (let n = 0; n < queue.length && n < MAX_NODES; n++) {
    const [path, node] = queue[n]!;
    yield path;
    if (Array.isArray(node)) for (const [index, item] of node.entries()) queue.push([[...path, index], item]);
    else if (isObject(node)) for (const [name, item] of Object.entries(node)) queue.push([[...path, name], item]);
  }
}

function replaceAt(node: unknown, [step, ...rest]: Path, change: (node: unknown) => unknown): unknown {
  if (step === undefined) return change(node);
  if (Array.isArray(node)) return node.map((item: unknown, n) => (n === step ? replaceAt(item, rest, change) : item));
  const entries = Object.entries(node as object) as [string, unknown][];
  return Object.fromEntries(
    entries.map(([name, item]) => [name, name === step ? replaceAt(item, rest, change) : item]),
  );
}

const isObject = (node: unknown): node is Record<string, unknown> =>
  node !== null && typeof node === "object" && !Array.isArray(node) && !(node instanceof Raw);

/** `Object.fromEntries` defines `__proto__` as a name like any other. */
const withField = (node: unknown, name: string, value: unknown): unknown =>
  isObject(node) ? Object.fromEntries([...Object.entries(node), [name, value]]) : Object.fromEntries([[name, value]]);

function withoutBraces(pieces: Piece[]): Piece[] {
  const joined = joinPieces(pieces);
  const [first, last] = [joined[0], joined.at(-1)];
  if (joined.length === 1) return [(first as string).slice(1, -1) + "}"];
  return [(first as string).slice(1), ...joined.slice(1, -1), last as string];
}

const ENDS = ["", "}", "]", "\0", "\uFEFF", " ".repeat(100_000), "\n{}", "//", "é"] as const;

/** A change of the whole text: cut, preceded or followed by something, in another encoding. */
export interface TextChange {
  kind: "none" | "cut" | "head" | "tail" | "utf16" | "latin1" | "overlong";
  pick: number;
}

export const textChanges = (): fc.Arbitrary<TextChange> =>
  fc.oneof(
    { weight: 15, arbitrary: fc.constant<TextChange>({ kind: "none", pick: 0 }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constantFrom<TextChange["kind"]>("cut", "head", "tail", "utf16", "latin1", "overlong"),
        pick: fc.nat(1000),
      }),
    },
  );

export function changeText(pieces: Pieces, { kind, pick }: TextChange): Piece[] {
  const end = ENDS[pick % ENDS.length]!;
  switch (kind) {
    case "none":
      return [...pieces];
    case "cut":
      return cutPieces(pieces, pick);
    case "head":
      return joinPieces([end, ...pieces]);
    case "tail":
      return joinPieces([...pieces, end]);
    case "utf16":
      return pieces.map((piece) =>
        typeof piece === "string" ? { hex: Buffer.from(piece, "utf16le").toString("hex") } : piece,
      );
    case "latin1":
      return [...pieces, { hex: "e9ff" }];
    case "overlong":
      return [{ hex: "c0af" }, ...pieces, { hex: "eda080f0808080" }];
  }
}

function cutPieces(pieces: Pieces, pick: number): Piece[] {
  const at = pieces.findLastIndex((piece) => typeof piece === "string");
  if (at === -1) return [];
  const text = pieces[at] as string;
  return [...pieces.slice(0, at), text.slice(0, pick % (text.length + 1))];
}
