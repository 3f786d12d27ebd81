/**
 * The operator's commands as root and as users, while the platform runs and while it does not: they say what is wrong,
 * exit accordingly, and leave a platform that works. Needs root.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { atEnd } from "../../server/test/at-end.ts";
import { testDataDirectory } from "../../server/test/control-plane.ts";
import { untilStatus } from "../../server/test/deploy.ts";
import { deployBot, expectAll, isRoot, NOBODY, Platform, tryHeddle } from "./platform-process.ts";

const OTHER = 33;
const NO_EXPORT = "01a21861-d719-7000-aed9-7414c0c6246e";

const newHome = (): string => {
  const home = testDataDirectory();
  atEnd(() => rmSync(home, { recursive: true, force: true }));
  return home;
};

/** Commands that work on a data directory, with their exit codes and a part of what they print. */
const COMMANDS = (archive: string, isRunning: boolean): [args: string[], status: number, text: RegExp][] => [
  [["keys", "list"], 0, /LAST USED/],
  [["users", "list"], 0, /EMAIL/],
  [["workspaces", "list"], 0, /default/],
  [["secrets", "status"], 0, /current/],
  [["secrets", "rotate"], 0, /re-encrypted/],
  [["audit", "verify"], 0, /sound/],
  [["audit", "export"], 0, /heddle secrets rotate/],
  [["blobs", "status"], 0, /in use|empty/],
  [["blobs", "adopt"], isRunning ? 1 : 0, isRunning ? /Stop all trace processes/ : /now stored in/],
  [["checkpoints", "expand"], 0, /whole/],
  [["export", "verify", NO_EXPORT], 1, /There is no export/],
  [["backup", archive], 0, /read back/],
  [["backup", archive], 1, /exists already/],
];

test.skipIf(!isRoot)(
  "commands of root leave a platform that its user can run, and other users are told whose it is",
  async () => {
    const dataDir = newHome();
    const archives = newHome();
    chownSync(dataDir, NOBODY, NOBODY);
    const place = { dataDir, isPlainUser: true };
    const platform = new Platform(place);
    await platform.start();
    const { thread } = await deployBot(platform);
    let number = 0;
    let isRunning = true;
    const runAll = (uid?: number, only = /./) => {
      const directory = uid === undefined ? archives : newHome();
      if (uid !== undefined) chownSync(directory, uid, uid);
      for (const [args, status, text] of COMMANDS(join(directory, `${++number}.tar`), isRunning)) {
        if (!only.test(args[0]!)) continue;
        const done = tryHeddle(place, uid, ...args, "--data-dir", dataDir);
        expect([args.join(" "), done.status, done.text]).toEqual([args.join(" "), status, expect.stringMatching(text)]);
      }
    };
    const ofRoot = () =>
      execFileSync("find", [dataDir, "-ignore_readdir_race", "-user", "root", "!", "-name", "up.log"], {
        encoding: "utf8",
      });
    const rejectOther = (only = /./) => {
      for (const [args] of COMMANDS(join(archives, "other.tar"), isRunning)) {
        if (!only.test(args[0]!)) continue;
        const done = tryHeddle(place, OTHER, ...args, "--data-dir", dataDir);
        expect([args.join(" "), done.status, done.text]).toEqual([
          args.join(" "),
          1,
          expect.stringContaining(`belongs to user ${NOBODY}`),
        ]);
      }
      const doctor = tryHeddle(place, OTHER, "doctor", "--data-dir", dataDir);
      expect(doctor.status).toBe(1);
      expect(doctor.text).toContain(`sudo -u '#${NOBODY}' heddle doctor`);
      expect(doctor.text).not.toMatch(/Restore the key file|give the directory/);
      expect(existsSync(join(archives, "other.tar"))).toBe(false);
    };

    runAll(NOBODY);
    runAll();
    // the others are tried below, while it is stopped
    rejectOther(/backup|keys/);
    expect(ofRoot()).toBe("");
    await platform.stop();
    isRunning = false;
    // root first: what it created would be in the user's way
    runAll();
    expect(ofRoot()).toBe("");
    runAll(NOBODY);
    rejectOther();
    const nothing = tryHeddle(place, undefined, "keys", "list", "--data-dir", join(archives, "nothing"));
    expect([nothing.status, nothing.text]).toEqual([2, expect.stringContaining("contains no Heddle data")]);
    const unreachable = tryHeddle(place, undefined, "holds", "list", "--url", platform.traceUrl);
    expect([unreachable.status, unreachable.text]).toEqual([
      1,
      expect.stringContaining("There is no trace platform at"),
    ]);
    await platform.start();
    isRunning = true;
    await expectAll(platform, thread);
    // the running engine can freeze its files again
    runAll(NOBODY, /backup/);
  },
  1_800_000,
);

test.skipIf(!isRoot)(
  "the doctor's advice does not harm a platform with deployments, and mends one that was harmed",
  async () => {
    const dataDir = newHome();
    const place = { dataDir, env: { HEDDLE_PROCESS_ISOLATION: "user" } };
    const platform = new Platform(place);
    await platform.start();
    const { id, revision, thread } = await deployBot(platform);
    const port = (url: string) => new URL(url).port;
    const examine = () => {
      const ports = [
        "--control-port",
        port(platform.url),
        "--trace-port",
        port(platform.traceUrl),
        "--console-port",
        "0",
      ];
      const { status, stdout } = tryHeddle(place, undefined, "doctor", "--json", "--data-dir", dataDir, ...ports);
      const { findings } = JSON.parse(stdout) as { findings: { check: string; status: string; advice?: string }[] };
      // a busy machine is slow
      const wrong = findings.filter(
        ({ check, status: kind }) => /warning|error/.test(kind) && check !== "postgres.latency",
      );
      return { status, wrong, findings };
    };
    const rollBack = async () => {
      const { json } = await platform.call("POST", `/v2/deployments/${id}/revisions/${revision}/redeploy`);
      await untilStatus(platform.call, id, json.latest_revision_id, "DEPLOYED", 180_000);
      await expectAll(platform, thread);
    };
    const follow = (advice = "") => execFileSync("sh", ["-ec", /Run: (.*)/.exec(advice)![1]!], { cwd: "/" });

    // as heddle up leaves it
    expect(statSync(dataDir).mode & 0o777).toBe(0o711);
    const sound = examine();
    expect([sound.status, sound.wrong]).toEqual([0, []]);
    expect(sound.findings.find(({ check }) => check === "port.agent")?.status).toBe("skipped");
    for (const [mode, path, status] of [
      [0o755, dataDir, 0],
      [0o700, dataDir, 1],
      [0o700, join(dataDir, "control", "builds"), 1],
      [0o755, join(dataDir, "chdb"), 0],
    ] as const) {
      chmodSync(path, mode);
      const harmed = examine();
      expect([path, harmed.status, harmed.wrong.map(({ check }) => check)]).toEqual([path, status, ["data-directory"]]);
      follow(harmed.wrong[0]!.advice);
      const mended = examine();
      expect([mended.status, mended.wrong]).toEqual([0, []]);
      await rollBack();
    }
  },
  1_800_000,
);
