import { expect, test } from "vitest";

import { ch, render } from "../../base/clickhouse/fragment.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { readFilter } from "../filter/read-filter.ts";
import { insertRuns, type RunRow } from "../run-rows/clickhouse.ts";
import { RunScope } from "./run-scope.ts";
import { conditionsByPieces, fromRuns } from "./selection.ts";

const TENANT = "00000000-0000-7000-8000-000000000001";
const { clickhouse } = await testTracePlatform();
const scope = RunScope.ofTenant(TENANT).withIncompleteHours(new Map() as never);

const id = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, "0")}`;
const key = (n: number) => ({
  tenant_id: TENANT,
  project_id: id(0),
  start_time: "2026-01-01 00:00:00.000000",
  id: id(n),
  trace_id: id(n),
  updated_at: "2026-01-01 00:00:00.000000",
});
const texts = { name: "quagga", error: "quagga", inputs: '"quagga"', outputs: '"quagga"', extra: '{"a":"quagga née"}' };
const rows = [
  ...Object.entries(texts).map(([column, text], i) => ({ ...key(i + 1), [column]: text })),
  { ...key(6), inputs: '{"text":"née zebra"}', outputs: '"okapi"' },
  { ...key(7), inputs: '"a zebra"' },
];
await insertRuns(clickhouse, rows as unknown as RunRow[]);
await clickhouse.command({ name: "test", query: "optimize table runs final" });

test.each([
  ['search("quagga")', 4],
  ['search("née")', 1],
  ['search(inputs, "QUAGGA")', 1],
  ['search(outputs, "quagga")', 1],
  ['search(extra, "quagga")', 1],
  ['search(extra, "née")', 1],
  ['and(search("née"), search("zebra"))', 1],
  ['and(search(outputs, "okapi"), search("zebra"))', 1],
  ['search("okapis")', 0],
])("conditions on pieces keep all runs that pass: %s", async (filter, count) => {
  const selection = { filters: [readFilter(filter)] };
  const read = async (more: ReturnType<typeof conditionsByPieces>) => {
    const statement = ch`select r.id as id ${fromRuns(scope, selection, more)} order by r.id`;
    return (await clickhouse.rows<{ id: string }>({ name: "test", ...render(statement) })).map((row) => row.id);
  };
  const pieces = conditionsByPieces(scope, selection, []);
  expect(pieces).toHaveLength(1);
  expect(await read(pieces)).toEqual(await read([]));
  expect(await read([])).toHaveLength(count);
});
