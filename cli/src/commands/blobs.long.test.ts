import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { testClickHouse } from "../../../server/test/clickhouse.ts";
import { testDatabase } from "../../../server/test/db.ts";
import { testS3 } from "../../../server/test/s3.ts";
import { testTracePlatform } from "../../../server/test/trace-platform.ts";
import { runHeddle } from "../../test/run-heddle.ts";

const db = await testDatabase();
await testClickHouse();
const s3 = await testS3();
s3.createBucket("files");
const key = s3.createKey();
const BUCKET = {
  HEDDLE_BLOB_BUCKET: "files",
  HEDDLE_BLOB_PREFIX: "p",
  HEDDLE_BLOB_ENDPOINT: s3.endpoint,
  HEDDLE_BLOB_ACCESS_KEY_ID: key.access_key_id,
  HEDDLE_BLOB_SECRET_ACCESS_KEY: key.secret_access_key,
};
const dataDir = mkdtempSync(join(tmpdir(), "heddle-cli-blobs-"));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const heddle = (action: string, env: Record<string, string> = {}) =>
  runHeddle(["blobs", action], { DATABASE_URI: db.uri, HEDDLE_DATA_DIR: dataDir, NODE_NO_WARNINGS: "1", ...env });

test("resumes a killed move of files into a bucket, and completes it only when no trace process runs", async () => {
  const options = { db, ownBlobs: true, dataDir };
  const before = await testTracePlatform({}, options);
  const names = Array.from({ length: 12 }, (_, i) => `00000000-0000-7000-8000-000000000001/${i % 3}a/file-${i}`);
  for (const name of names) await before.platform.deps.blobs.put(name, Buffer.from(`content of ${name}`));
  expect(await heddle("status")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("in use, a trace process is"),
  });

  const killed = await heddle("move", { ...BUCKET, HEDDLE_FAULT_POINTS: "blob-copied:5" });
  expect(killed.signal).toBe("SIGKILL");
  const running = await heddle("move", BUCKET);
  expect(running).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/7 files were copied.*is still using the directory/),
  });
  const late = `${names[0]}-late`;
  await before.platform.deps.blobs.put(late, Buffer.from("written meanwhile"));
  await before.stop();
  // a partial write left by a crash does not count as a file
  writeFileSync(join(dataDir, "blobs", `${names[0]}.12ab34cd.tmp`), "half");

  const moved = await heddle("move", BUCKET);
  expect(moved).toMatchObject({ code: 0, stdout: expect.stringMatching(/^1 files copied .* 12 already there/) });
  expect((await s3.keys("files", "p/")).filter((name) => !name.endsWith("place.id"))).toHaveLength(13);
  expect(readdirSync(join(dataDir, "blobs")).length).toBeGreaterThan(1);
  expect((await heddle("move", BUCKET)).code).toBe(0);

  await expect(testTracePlatform({}, options)).rejects.toThrow("are stored in s3://files/p");
  const after = await testTracePlatform(BUCKET, options);
  for (const name of [...names, late]) expect((await after.platform.deps.blobs.read(name))?.size).toBeGreaterThan(10);
  expect((await after.platform.deps.blobs.read(late))!.size).toBe(17);
  await after.stop();
}, 120_000);

test("adopts a copy of a lost file directory only while no trace process runs", async () => {
  expect((await heddle("move")).stderr).toContain("HEDDLE_BLOB_BUCKET is not set");
  expect((await heddle("lose")).code).toBe(2);
  const copy = join(dataDir, "copy");
  mkdirSync(copy);
  cpSync(join(dataDir, "blobs"), copy, { recursive: true });
  const env = { HEDDLE_BLOB_DIRECTORY: copy };
  const running = await testTracePlatform(BUCKET, { db, ownBlobs: true });
  expect(await heddle("adopt", env)).toMatchObject({ code: 1, stderr: expect.stringContaining("s3://files/p") });
  await running.stop();
  expect(await heddle("adopt", env)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`now stored in ${copy} on`),
  });
  const after = await testTracePlatform(env, { db, ownBlobs: true });
  await after.stop();
});
