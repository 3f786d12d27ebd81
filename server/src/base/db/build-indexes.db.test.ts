import { expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { buildIndexes } from "./build-indexes.ts";

const { sql } = await testDatabase();
const INDEXES = "create index concurrently if not exists built_late on late (n);\n";
const isValid = async () =>
  (
    await sql<
      { valid: boolean }[]
    >`select indisvalid as valid from pg_index where indexrelid = to_regclass('built_late')`
  )[0]?.valid;

test("an index is built while others write its table", async () => {
  await sql`create table late (n integer)`;
  let built: Promise<void> | undefined;
  await sql.begin(async (tx) => {
    await tx`insert into late values (1)`;
    built = buildIndexes(sql, INDEXES);
    // the build waits for this transaction, and other writers do not wait for the build
    await expect.poll(async () => (await sql`select 1 from pg_stat_progress_create_index`).length).toBe(1);
    await sql`insert into late values (2)`;
    expect(await isValid()).toBe(false);
    // a second server leaves it to the first
    await buildIndexes(sql, INDEXES);
  });
  await built;
  expect(await isValid()).toBe(true);
});

test("an index whose build was interrupted is built anew", async () => {
  await sql`update pg_index set indisvalid = false where indexrelid = to_regclass('built_late')`;
  await buildIndexes(sql, INDEXES);
  expect(await isValid()).toBe(true);
});

test("an index that cannot be built is a warning, and the others are built by the next start", async () => {
  const warnings: string[] = [];
  const onWarning = ({ message }: Error) => void warnings.push(message);
  process.on("warning", onWarning);
  await buildIndexes(sql, `create index concurrently if not exists built_never on nowhere (n);\n${INDEXES}`);
  await expect.poll(() => warnings.join()).toMatch(/could not be built: relation "nowhere" does not exist/);
  process.off("warning", onWarning);
});
