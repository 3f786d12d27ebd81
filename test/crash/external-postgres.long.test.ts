/** Backup and restore of a platform with an external Postgres, by the commands of docs/backup.md. */
import { execFileSync, spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, test } from "vitest";

import { freePort } from "../../server/src/base/free-port.ts";
import { atEnd } from "../../server/test/at-end.ts";
import { testDataDirectory } from "../../server/test/control-plane.ts";
import { deployBot, expectAll, heddle, isRoot, Platform } from "./platform-process.ts";

/** Programs of Debian's Postgres, newest first: pg_dump must not be older than its server. */
const bin = (existsSync("/usr/lib/postgresql") ? readdirSync("/usr/lib/postgresql") : [])
  .sort((a, b) => Number(b) - Number(a))
  .map((version) => `/usr/lib/postgresql/${version}/bin`)
  .find((path) => existsSync(join(path, "pg_dump")) && existsSync(join(path, "initdb")));
const SECTION = readFileSync(new URL("../../docs/backup.md", import.meta.url), "utf8");

/** Starts a Postgres server. @returns the environment in which its own programs find it */
async function startPostgres(): Promise<Record<string, string>> {
  const directory = mkdtempSync(join(tmpdir(), "heddle-external-"));
  const port = String(await freePort());
  const user = isRoot ? "postgres" : process.env["USER"]!;
  const run = (...[program, ...args]: [string, ...string[]]) => {
    const command = [join(bin!, program), ...args];
    const all = isRoot ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", ...command] : command;
    execFileSync(all[0]!, all.slice(1), { cwd: directory, stdio: "ignore" });
  };
  const data = join(directory, "data");
  mkdirSync(data);
  if (isRoot) {
    const [uid, gid] = ["-u", "-g"].map((flag) => Number(execFileSync("id", [flag, "postgres"])));
    for (const path of [directory, data]) chownSync(path, uid!, gid!);
  }
  run("initdb", "-D", data, "-U", user, "--auth=trust", "--no-sync");
  const options = `-p ${port} -k ${directory} -c listen_addresses=127.0.0.1 -c max_connections=200 -c fsync=off`;
  run("pg_ctl", "-D", data, "-w", "-l", join(directory, "log"), "-o", options, "start");
  atEnd(() => {
    run("pg_ctl", "-D", data, "-m", "immediate", "stop");
    rmSync(directory, { recursive: true, force: true });
  });
  return {
    PGHOST: "127.0.0.1",
    PGPORT: port,
    PGUSER: user,
    DATABASE_URI: `postgres://${user}@127.0.0.1:${port}/heddle`,
  };
}

/** Returns a block of commands of the documentation, by its first line. */
function documented(first: string): string {
  const block = [...SECTION.matchAll(/```sh\n([^]*?)```/g)]
    .map(([, text]) => text!)
    .find((text) => text.startsWith(first));
  if (block === undefined) throw new Error(`docs/backup.md has no commands that begin with ${first}`);
  return block;
}

test.skipIf(!bin)(
  "a platform with an external Postgres is restored on another server by the documented commands",
  async () => {
    const [home, elsewhere, dumps] = [testDataDirectory(), testDataDirectory(), testDataDirectory()];
    atEnd(() => {
      for (const directory of [home, elsewhere, dumps]) rmSync(directory, { recursive: true, force: true });
    });
    const shell = (script: string, env: Record<string, string>) => {
      const PATH = `${bin}:${process.env["PATH"]}`;
      const done = spawnSync("sh", ["-e"], { cwd: dumps, env: { PATH, ...env }, input: script, encoding: "utf8" });
      expect([done.status, done.stderr]).toEqual([0, expect.any(String)]);
    };
    const [first, second] = [await startPostgres(), await startPostgres()];
    shell("createdb heddle", first);
    const here = { dataDir: home, env: first };
    const platform = new Platform(here);
    await platform.start();
    const { thread } = await deployBot(platform);

    shell(documented("# dump the databases"), first);
    const archive = join(dumps, "monday.tar");
    const { notes } = heddle(here, "backup", archive) as unknown as { notes: string[] };
    expect(notes).toEqual([expect.stringContaining("pg_dump")]);
    await platform.stop();

    shell(documented("# load the databases"), second);
    const there = { dataDir: elsewhere, env: second };
    expect(heddle(there, "restore", archive)).toMatchObject({
      databases: [],
      deployments: [{ name: "bot", build: "rebuilt" }],
    });
    const restored = new Platform(there);
    restored.key = platform.key;
    await restored.start();
    await expectAll(restored, thread);
  },
  900_000,
);
