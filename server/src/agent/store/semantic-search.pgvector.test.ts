import { expect, test } from "vitest";

import { testPgvector } from "../../../test/pgvector.ts";
import { LETTERS, openStore, testSemanticSearch } from "../../../test/semantic-store.ts";
import { findVectorSchema } from "./sql.ts";

const sql = await testPgvector();

test("the first server with an index finds and installs pgvector", async () => {
  expect(await findVectorSchema(sql)).toBeNull();
  await openStore(sql, { index: LETTERS });
  expect(await findVectorSchema(sql)).toBe("public");
});

testSemanticSearch(sql);

test("finds pgvector in another schema", async () => {
  await sql`create schema "odd place"`;
  await sql`alter extension vector set schema "odd place"`;
  const { put, search } = await openStore(sql, { index: LETTERS });
  await put(["odd"], "k", { t: "tea" });
  expect(await search(["odd"], "tea")).toHaveLength(1);
});
