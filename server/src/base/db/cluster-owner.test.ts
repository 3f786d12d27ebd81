import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { ownerProblem } from "./cluster-owner.ts";

const cluster = mkdtempSync(join(tmpdir(), "heddle-owner-"));
afterAll(() => rmSync(cluster, { recursive: true, force: true }));
const own = { uid: process.getuid!(), gid: process.getgid!() };

test("names the owner of a restored cluster and the command that corrects it", () => {
  // not a cluster yet
  expect(ownerProblem(cluster, { uid: 12_345, gid: 12_346 })).toBeUndefined();
  mkdirSync(join(cluster, "global"));
  writeFileSync(join(cluster, "PG_VERSION"), "18");
  expect(ownerProblem(cluster, own)).toBeUndefined();
  expect(ownerProblem(cluster, null)).toBeUndefined();
  expect(ownerProblem(cluster, { uid: 12_345, gid: 12_346 })).toBe(
    `${cluster} belongs to user ${own.uid}, but the embedded Postgres runs as user 12345. If the data directory was ` +
      `copied or restored, correct its owner:\n  chown -R 12345:12346 ${cluster}`,
  );
});

test.skipIf(own.uid !== 0)("names a single file with another owner", () => {
  writeFileSync(join(cluster, "global", "pg_control"), "");
  chownSync(join(cluster, "global", "pg_control"), 12_345, 12_346);
  expect(ownerProblem(cluster, own)).toContain(`${join(cluster, "global", "pg_control")} belongs to user 12345`);
});
