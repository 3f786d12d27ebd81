/** Ids of interrupts in the rows that the savers of both languages write. */
import { expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";

const { sql } = await testDatabase();

const A = "0123456789abcdef0123456789abcdef";
const B = "fedcba9876543210fedcba9876543210";

const ids = async (type: string, blob: Buffer): Promise<(string | null)[]> => {
  const [row] = await sql<{ ids: (string | null)[] }[]>`select to_json(interrupt_ids(${type}, ${blob})) as ids`;
  return row!.ids;
};

const json = (value: unknown) => ids("json", Buffer.from(JSON.stringify(value)));

test("reads the object of LangGraph.js up to 1.5 and the array of 1.7", async () => {
  expect(await json({ id: A, value: { id: B } })).toEqual([A]);
  expect(await json({ interrupt_id: A, value: 1, when: "during" })).toEqual([A]);
  expect(await json([{ id: A, value: "x" }])).toEqual([A]);
  expect(await json([{ value: { id: "x" }, id: A }, { id: B }])).toEqual([A, B]);
  expect(await json([])).toEqual([]);
});

test("has null for interrupts without an id", async () => {
  expect(await json({ value: 1, when: "during", resumable: true, ns: ["ask:1"] })).toEqual([null]);
  expect(await json([{ value: 1 }, { id: A }, "text", null])).toEqual([null, A, null, null]);
});

test("accepts values that are not texts of Postgres", async () => {
  expect(await json([{ value: "NUL \0, backslash \\u0000, surrogate \ud800", id: A }])).toEqual([A]);
});

/** Written by the serializer of langgraph: each value contains another "id", and text that looks like one. */
test.each([
  [
    "0.6.0",
    "92c77c0293af6c616e6767726170682e7479706573a9496e7465727275707482a576616c756582a26964d9206161616161616161616161616161616161616161616161616161616161616161a171ac5c32343269645c3333312078a26964d9203031323334353637383961626364656630313233343536373839616263646566c76f0293af6c616e6767726170682e7479706573a9496e7465727275707482a576616c75659281a26964d920626262626262626262626262626262626262626262626262626262626262626205a26964d9206665646362613938373635343332313066656463626139383736353433323130",
  ],
  [
    "1.2.24, which adds response_schema",
    "92c78d0293af6c616e6767726170682e7479706573a9496e7465727275707483a576616c756582a26964d9206161616161616161616161616161616161616161616161616161616161616161a171ac5c32343269645c3333312078a26964d9203031323334353637383961626364656630313233343536373839616263646566af726573706f6e73655f736368656d61c0c7800293af6c616e6767726170682e7479706573a9496e7465727275707483a576616c75659281a26964d920626262626262626262626262626262626262626262626262626262626262626205a26964d9206665646362613938373635343332313066656463626139383736353433323130af726573706f6e73655f736368656d61c0",
  ],
])("reads all interrupts of a write of Python %s", async (_, hex) => {
  expect(await ids("msgpack", Buffer.from(hex, "hex"))).toEqual([A, B]);
});
