import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { afterAll, expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { hashFunctions, nextVersion } from "./functions-version.ts";
import { MIGRATIONS, migrate, withoutLimit } from "./migrate.ts";

const db = await testDatabase();
const { sql } = db;
const directory = mkdtempSync(join(tmpdir(), "heddle-builds-"));
afterAll(() => rmSync(directory, { recursive: true }));

/** Creates the migrations of a build whose function `build_name` returns `name`. */
async function build(name: string, version: number): Promise<string> {
  const build = mkdtempSync(join(directory, "build-"));
  cpSync(MIGRATIONS, build, { recursive: true });
  const functions = join(build, "functions");
  writeFileSync(
    join(functions, "build.sql"),
    `create or replace function build_name() returns text language sql as $$ select '${name}' $$;`,
  );
  writeFileSync(join(functions, "VERSION"), `${version} ${await hashFunctions(functions)}\n`);
  return build;
}

const buildName = async () => (await sql<{ build_name: string }[]>`select build_name()`)[0]!.build_name;

test("an old build that starts again does not replace the functions of a newer one", async () => {
  const [old, newer] = [await build("old", 1_001), await build("newer", 1_002)];
  expect((await migrate(sql, old)).applied).toEqual(["functions"]);
  expect((await migrate(sql, newer)).applied).toEqual(["functions"]);
  expect((await migrate(sql, old)).applied).toEqual([]);
  expect(await buildName()).toBe("newer");
});

test("a newer build restores an older text, and the build between does not undo that", async () => {
  const [first, second, third] = [await build("a", 2_001), await build("b", 2_002), await build("a", 2_003)];
  for (const build of [first, second, third]) await migrate(sql, build);
  expect(await buildName()).toBe("a");
  expect((await migrate(sql, second)).applied).toEqual([]);
  expect(await buildName()).toBe("a");
});

test("the last start wins between development texts of one version", async () => {
  const [mine, other] = [await build("mine", 3_001), await build("other", 3_001)];
  for (const [build, name] of [
    [mine, "mine"],
    [other, "other"],
    [mine, "mine"],
  ] as const) {
    await migrate(sql, build);
    expect(await buildName()).toBe(name);
  }
});

test("a text released unchanged as the next version counts as that version", async () => {
  await migrate(sql, await build("draft", 4_001));
  expect((await migrate(sql, await build("draft", 4_002))).applied).toEqual([]);
  expect((await migrate(sql, await build("other draft", 4_001))).applied).toEqual([]);
  expect(await buildName()).toBe("draft");
});

test("replaces functions that a build without versions installed", async () => {
  await sql`alter table heddle_functions drop column version`;
  expect((await migrate(sql, await build("with a version", 1))).applied).toEqual(["functions"]);
  expect(await buildName()).toBe("with a version");
});

test("the committed version matches the committed functions, and increases on a change and on a conflict", async () => {
  const hash = await hashFunctions(join(MIGRATIONS, "functions"));
  const committed = readFileSync(join(MIGRATIONS, "functions", "VERSION"), "utf8");
  expect(nextVersion(committed, hash)).toBe(committed);
  const [a, b, c] = ["a", "b", "c"].map((digit) => digit.repeat(64)) as [string, string, string];
  expect(nextVersion("", a)).toBe(`1 ${a}\n`);
  expect(nextVersion(`7 ${a}\n`, b)).toBe(`8 ${b}\n`);
  expect(nextVersion(`<<<<<<< ours\n8 ${a}\n=======\n11 ${b}\n>>>>>>> theirs\n`, c)).toBe(`12 ${c}\n`);
});

test("migrations that lock several tables wait for sessions that use these in another order, and end none", async () => {
  const newest = await build("locks", 5_001);
  writeFileSync(
    join(newest, "9001_two_tables.sql"),
    "alter table runs add column later int; select pg_sleep(0.5); alter table threads add column later int;",
  );
  let migrating: Promise<{ applied: string[] }> | undefined;
  await sql.begin(async (tx) => {
    await tx`select 1 from threads`;
    migrating = withoutLimit({ uri: db.uri, socket: null }, (setup) => migrate(setup, newest));
    await sleep(250);
    // a migration that holds this table waits for the first
    await tx`select 1 from runs`;
  });
  expect((await migrating!).applied).toEqual(["9001_two_tables.sql", "functions"]);
});
