/**
 * The drill of a platform with deployments: a backup while it runs, a restore on "another machine" (another directory,
 * user and ports) beside it, and after its loss one in its own place. Everything is served again without a hand's turn.
 * As root, deployments have their own system users.
 */
import { execFileSync } from "node:child_process";
import { chownSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { atEnd } from "../../server/test/at-end.ts";
import { testDataDirectory } from "../../server/test/control-plane.ts";
import { deployBot, expectAll, heddle, isRoot, NOBODY, Platform } from "./platform-process.ts";

const [home, elsewhere, archives] = [testDataDirectory(), testDataDirectory(), testDataDirectory()];
atEnd(() => {
  for (const directory of [home, elsewhere, archives]) rmSync(directory, { recursive: true, force: true });
});

test("a platform with deployments is restored on another machine, and in its own place", async () => {
  const here = { dataDir: home };
  const platform = new Platform(here);
  await platform.start();
  const { call } = platform;
  const { id, revision, thread } = await deployBot(platform);
  const source = join(home, "control", "builds", revision, "src");
  expect(statSync(source).uid > 2 ** 16).toBe(isRoot);

  const [small, large] = [join(archives, "small.tar"), join(archives, "large.tar")];
  expect(heddle(here, "backup", small)).toMatchObject({
    builds: { copied: 0, left_out: 1 },
    authenticated: true,
    notes: [],
  });
  expect(heddle(here, "backup", large, "--with-builds")).toMatchObject({ builds: { copied: 1, left_out: 0 } });
  const names = execFileSync("tar", ["-tf", large], { maxBuffer: 2 ** 26 }).toString();
  expect(names).toContain(`control/builds/${revision}/src/graph.mjs`);
  expect(execFileSync("tar", ["-tf", small]).toString()).not.toContain("graph.mjs");

  // another machine, while the first one serves
  if (isRoot) for (const path of [elsewhere, archives, small, large]) chownSync(path, NOBODY, NOBODY);
  const there = { dataDir: elsewhere, isPlainUser: true };
  expect(heddle(there, "restore", small, "--authenticated")).toMatchObject({
    authenticated: true,
    deployments: [{ name: "bot", build: "rebuilt" }],
  });
  const second = new Platform(there);
  second.key = platform.key;
  await second.start();
  await expectAll(second, thread);
  expect(second.log).toContain("the build of bot is missing; building it again");
  const active = (await second.call("GET", `/v2/deployments/${id}`)).json.active_revision_id;
  expect(readdirSync(join(elsewhere, "control", "builds"))).toEqual([active]);
  await second.stop();
  // the first one has not noticed
  await expectAll(platform, thread);
  expect((await call("GET", `/v2/deployments/${id}`)).json.active_revision_id).toBe(revision);

  // its own place, with builds
  await platform.stop();
  rmSync(home, { recursive: true });
  expect(heddle(here, "restore", large)).toMatchObject({ deployments: [{ name: "bot", build: "restored" }] });
  const third = new Platform(here);
  third.key = platform.key;
  await third.start();
  await expectAll(third, thread);
  expect((await third.call("GET", `/v2/deployments/${id}`)).json.latest_revision_id).toBe(revision);
  expect(statSync(source).uid > 2 ** 16).toBe(isRoot);
}, 1_200_000);
