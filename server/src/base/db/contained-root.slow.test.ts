import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";

import { expect, test } from "vitest";

const USER_SCRIPT = fileURLToPath(new URL("../../../test/fixtures/postgres-user.ts", import.meta.url));
const TSX = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
/** What container engines take from root: with it, root could look into processes of other users. */
const CONTAINED = ["setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace"];
const canContain = process.getuid?.() === 0 && spawnSync(CONTAINED[0]!, [...CONTAINED.slice(1), "true"]).status === 0;

/** Starts a process that uses the data directory's Postgres. Resolves when it is connected. */
async function usePostgres(dataDir: string): Promise<ChildProcess> {
  const [program, ...args] = [
    ...CONTAINED,
    process.execPath,
    "--import",
    TSX,
    USER_SCRIPT,
    dataDir,
    '{"lingerSeconds":3}',
  ];
  const child = spawn(program!, args, { stdio: ["ignore", "pipe", "inherit"] });
  const connected = once(createInterface(child.stdout!), "line");
  const exited = once(child, "exit").then(([code]) => Promise.reject(new Error(`exited with ${code}`)));
  await Promise.race([connected, exited]);
  return child;
}

test.skipIf(!canContain)(
  "root of a container starts Postgres as another user, finds it again, and ends it",
  async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "heddle-contained-"));
    const postmasterPid = () => readFileSync(join(dataDir, "postgres/data/postmaster.pid"), "utf8").split("\n")[0];
    try {
      const first = await usePostgres(dataDir);
      const pid = postmasterPid();
      first.kill("SIGKILL");
      const second = await usePostgres(dataDir);
      expect(postmasterPid()).toBe(pid);
      second.kill("SIGTERM");
      await once(second, "exit");
      // without users, the guardian ends it
      await expect.poll(() => spawnSync("kill", ["-0", pid!]).status, { timeout: 60_000 }).not.toBe(0);
    } finally {
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    }
  },
);
