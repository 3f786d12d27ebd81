import fc from "fast-check";
import { expect, test } from "vitest";

import { bind, ch, type Fragment, raw, render } from "../../base/clickhouse/fragment.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { insertRuns, type RunRow } from "../run-rows/clickhouse.ts";
import { compileFilter } from "./compile.ts";
import { searchPieces } from "./search-pieces.ts";

const TENANT = "00000000-0000-7000-8000-000000000001";
const { clickhouse } = await testTracePlatform();
const scope = { tenantId: TENANT, incompleteHours: new Map<string, number>() as never };
const exact = (text: string) => compileFilter({ kind: "search", text }, scope);
const read = <T>(statement: Fragment) => clickhouse.rows<T>({ name: "test", ...render(statement) });

const TEXTS = [
  ...fc.sample(fc.string({ unit: "binary", minLength: 4, maxLength: 40 }), { seed: 7, numRuns: 60 }),
  ...fc.sample(fc.string({ unit: "grapheme-ascii", minLength: 4, maxLength: 40 }), { seed: 8, numRuns: 60 }),
  ...[
    'a "quoted" word',
    "two\nlines",
    "back\\slash",
    "50% of_it",
    "Kelvin \u212A and long \u017F",
    "\u0130\u0131 dots",
  ],
];
const rows = TEXTS.map((text, i) => ({
  tenant_id: TENANT,
  project_id: TENANT,
  start_time: "2026-01-01 00:00:00.000000",
  id: `00000000-0000-7000-8000-${String(i).padStart(12, "0")}`,
  trace_id: `00000000-0000-7000-8000-${String(i).padStart(12, "0")}`,
  updated_at: "2026-01-01 00:00:00.000000",
  [["name", "error", "outputs", "inputs"][i % 4]!]: i % 4 < 2 ? text : JSON.stringify({ text }),
}));
await insertRuns(clickhouse, rows as unknown as RunRow[]);
// inserts into an embedded engine do not build the index
await clickhouse.command({ name: "test", query: "optimize table runs final" });

test("every piece in which a text occurs is found by the index's condition", async () => {
  const parts = TEXTS.flatMap((text, i) => {
    const middle = text.slice(1 + (i % 3));
    return [text, middle, middle.toUpperCase(), middle.toLowerCase()];
  }).filter((text) => !text.includes("\u0000"));
  let found = 0;
  for (const text of parts) {
    const ids = async (condition: Fragment) => {
      const statement = ch`select r.id as id from runs as r where r.tenant_id = ${bind("UUID", TENANT)} and ${condition}`;
      return (await read<{ id: string }>(ch`${statement} order by r.id`)).map((row) => row.id);
    };
    const matching = await ids(exact(text));
    expect([text, ...(await ids(searchPieces({ kind: "search", text }, scope)))]).toEqual([text, ...matching]);
    found += matching.length;
  }
  expect(found).toBeGreaterThan(TEXTS.length);
}, 120_000);

test.each(["", "AB", " ".repeat(40)])(
  "whatever character stands for an ASCII one ignoring case, it does in lower case, too: after '%s'",
  async (before) => {
    const ascii = Array.from(
      { length: 95 },
      (_, i) => `${before.trim().toLowerCase()}${String.fromCharCode(32 + i)}cdef`,
    );
    const n = "toUInt32(number)";
    const low = (shift: number) => `128 + bitAnd(bitShiftRight(${n}, ${shift}), 63)`;
    const utf8 = `multiIf(${n} < 128, char(${n}), ${n} < 2048, char(192 + bitShiftRight(${n}, 6), ${low(0)}),
      ${n} < 65536, char(224 + bitShiftRight(${n}, 12), ${low(6)}, ${low(0)}),
      char(240 + bitShiftRight(${n}, 18), ${low(12)}, ${low(6)}, ${low(0)}))`;
    const needles = bind("Array(String)", ascii);
    const [row] = await read<{ folded: string[]; missed: string[] }>(ch`
      select groupUniqArray(text) as folded, groupArrayIf(text, not multiSearchAny(lowerUTF8(text), [lower(needle)])) as missed
      from (
        select text from (select concat(${bind("String", before)}, ${raw(utf8)}, 'CDEF') as text from numbers(32, 1114080))
        where multiSearchAnyCaseInsensitiveUTF8(text, ${needles})
      ) array join ${needles} as needle
      where multiSearchAnyCaseInsensitiveUTF8(text, [needle])`);
    expect(row!.missed).toEqual([]);
    expect(row!.folded.length).toBeGreaterThanOrEqual(95);
  },
);

test("merged pieces without the text are not read", async () => {
  const plan = async (text: string) => {
    const rows = await read<{ explain: string }>(
      ch`explain indexes = 1 select r.id from runs as r where r.tenant_id = ${bind("UUID", TENANT)} and ${searchPieces({ kind: "search", text }, scope)}`,
    );
    const lines = rows.map((row) => row.explain.trim());
    return lines.slice(lines.indexOf("Name: words")).find((line) => line.startsWith("Granules:"));
  };
  expect(await plan("zebracrossing")).toBe("Granules: 0/1");
  expect(await plan('a "quoted" word')).toBe("Granules: 1/1");
});
