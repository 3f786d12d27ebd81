import fc from "fast-check";
import { expect, test } from "vitest";

import type { ListItem } from "./list-item.ts";
import { encodeList, ListBuilder, type ListRow, type ListValue, wholeList } from "./list-value.ts";
import { splitArray } from "./split-array.ts";

const items = (...texts: string[]): ListItem[] => texts.map((text) => ({ text: JSON.stringify(text) }));

/** Reads a version back from the rows, as a reader without anything in memory does. */
function read(rows: ReadonlyMap<string, ListRow>, version: string): ListValue {
  const row = rows.get(version)!;
  if (row.base === null) return wholeList(row.text, version)!;
  const changes: [string, ListRow][] = [];
  let at = version;
  for (let step = rows.get(at)!; step.base !== null; step = rows.get(at)!) {
    changes.push([at, step]);
    at = step.base;
  }
  const builder = new ListBuilder(wholeList(rows.get(at)!.text, at)!);
  for (const [name, step] of changes.reverse()) builder.apply(step.text, name);
  return builder.build();
}

const anyEdit = fc.oneof(
  fc.record({ kind: fc.constant("append" as const), texts: fc.array(fc.string(), { minLength: 1, maxLength: 3 }) }),
  fc.record({ kind: fc.constant("cut" as const), from: fc.nat(20) }),
  fc.record({ kind: fc.constant("remove" as const), at: fc.nat(20) }),
  fc.record({ kind: fc.constant("replace" as const), at: fc.nat(20), text: fc.string({ unit: "grapheme" }) }),
  fc.record({ kind: fc.constant("move" as const), at: fc.nat(20) }),
  fc.record({ kind: fc.constant("rewrite" as const), texts: fc.array(fc.string(), { maxLength: 9 }) }),
);
type Edit = typeof anyEdit extends fc.Arbitrary<infer T> ? T : never;

function edited(list: ListItem[], edit: Edit): ListItem[] {
  switch (edit.kind) {
    case "append":
      return [...list, ...items(...edit.texts)];
    case "cut":
      return list.slice(edit.from);
    case "remove":
      return list.toSpliced(edit.at, 1);
    case "replace":
      return edit.at < list.length ? list.with(edit.at, items(edit.text)[0]!) : list;
    case "move":
      return edit.at < list.length ? [...list.toSpliced(edit.at, 1), list[edit.at]!] : list;
    case "rewrite":
      return items(...edit.texts);
  }
}

test("every version is read back as it was, whatever was done to the list", () => {
  fc.assert(
    fc.property(fc.array(anyEdit, { maxLength: 40 }), fc.integer({ min: 0, max: 30 }), (edits, length) => {
      const rows = new Map<string, ListRow>();
      const texts = new Map<string, string[]>();
      let list = items(...Array.from({ length }, (_, n) => `item ${n} ${"x".repeat(n * 20)}`));
      let base: ListValue | undefined;
      for (const [n, edit] of edits.entries()) {
        const version = `${n}.5`;
        const encoded = encodeList(list, version, base);
        rows.set(version, encoded.row);
        texts.set(
          version,
          list.map(({ text }) => text),
        );
        base = encoded.list;
        list = edited(list, edit);
      }
      for (const [version, expected] of texts) {
        const found = read(rows, version);
        expect(found.items.map(({ text }) => text)).toEqual(expected);
        expect(found).toMatchObject({ version, chain: rows.get(version)!.chain, depth: rows.get(version)!.depth ?? 0 });
      }
    }),
  );
});

test("an appended item costs its own size, at any length", () => {
  let list = items(...Array.from({ length: 50 }, (_, n) => `${n}`.repeat(100)));
  let base: ListValue | undefined = encodeList(list, "0", undefined).list;
  let most = 0;
  for (let n = 1; n <= 3000; n++) {
    list = [...list, ...items("m".repeat(300))];
    const { row, list: next } = encodeList(list, String(n), base);
    most = Math.max(most, row.text.length);
    base = next;
  }
  expect(most).toBeLessThan(350);
});

test("a list that keeps only its last items is stored in proportion to what is new, and read in proportion to itself", () => {
  let list = items(...Array.from({ length: 20 }, () => "w".repeat(1000)));
  let base: ListValue | undefined;
  let stored = 0;
  let longest = 0;
  for (let n = 0; n < 2000; n++) {
    list = [...list, ...items("w".repeat(1000) + n)].slice(-20);
    const encoded = encodeList(list, String(n), base);
    stored += encoded.row.text.length;
    base = encoded.list;
    longest = Math.max(longest, base.cost);
  }
  expect(stored).toBeLessThan(2000 * 1000 * 2);
  expect(longest).toBeLessThan(2 * 20_000 + 80_000);
});

test("splits any JSON array as JSON.parse does, and nothing else", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
      const texts = splitArray(JSON.stringify(value, null, indent));
      expect(texts === undefined).toBe(!Array.isArray(value));
      if (!Array.isArray(value)) return;
      expect(texts!.map((text) => JSON.parse(text) as unknown)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});
