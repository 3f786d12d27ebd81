import { expect, test } from "vitest";

import { testPgvector } from "../../../test/pgvector.ts";
import { LETTERS, openStore, testSemanticSearch } from "../../../test/semantic-store.ts";
import { findVectorSchema } from "./sql.ts";

const sql = await testPgvector();

test("pgvector is found and installed by the first server that has an index", async () => {
  expect(await findVectorSchema(sql)).toBeNull();
  await openStore(sql, { index: LETTERS });
  expect(await findVectorSchema(sql)).toBe("public");
});

testSemanticSearch(sql);

test("it finds its way where pgvector is in a schema of its own", async () => {
  await sql`create schema "odd place"`;
  await sql`alter extension vector set schema "odd place"`;
  const { put, search } = await openStore(sql, { index: LETTERS });
  await put(["odd"], "k", { t: "tea" });
  expect(await search(["odd"], "tea")).toHaveLength(1);
});
