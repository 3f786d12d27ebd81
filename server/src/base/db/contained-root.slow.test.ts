import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, test } from "vitest";

import { startPostgresUser } from "../../../test/postgres-user.ts";

/** What container engines take from root: with it, root could look into processes of other users. */
const CONTAINED = ["setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace"];
const canContain = process.getuid?.() === 0 && spawnSync(CONTAINED[0]!, [...CONTAINED.slice(1), "true"]).status === 0;

test.skipIf(!canContain)(
  "root of a container starts Postgres as another user, finds it again, and ends it",
  async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "heddle-contained-"));
    const postmasterPid = () => readFileSync(join(dataDir, "postgres/data/postmaster.pid"), "utf8").split("\n")[0];
    const usePostgres = () => startPostgresUser(dataDir, { through: CONTAINED, options: { lingerSeconds: 3 } });
    try {
      const first = usePostgres();
      await first.connected;
      const pid = postmasterPid();
      first.child.kill("SIGKILL");
      const second = usePostgres();
      await second.connected;
      expect(postmasterPid()).toBe(pid);
      second.child.kill("SIGKILL");
      // the guardian ends a Postgres without users
      await expect.poll(() => spawnSync("kill", ["-0", pid!]).status, { timeout: 60_000 }).not.toBe(0);
    } finally {
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    }
  },
);
