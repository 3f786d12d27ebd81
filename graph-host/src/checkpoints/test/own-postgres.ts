import { execFileSync } from "node:child_process";
import type { EventEmitter } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import postgres from "postgres";

import { EmbeddedPostgres } from "../../../../server/src/base/db/embedded-postgres.ts";
import { migrate } from "../../../../server/src/base/db/migrate.ts";

/** Migrated Postgres with fsync on, for one test or benchmark alone, which may kill it. */
export interface OwnPostgres {
  uri: string;
  socket: string | null;
  /** Sends SIGKILL to the postmaster and its backends, which would otherwise end a statement after it. */
  kill(): void;
  /** Restarts on the same port, after crash recovery. */
  restart(): Promise<unknown>;
  /** Returns the postmaster's process id. */
  pid(): number;
  stop(): Promise<void>;
}

/** `dataDir`: a directory that stays. Default: a temporary one. */
export async function startOwnPostgres(
  options: { dataDir?: string | undefined; settings?: Record<string, string> } = {},
): Promise<OwnPostgres> {
  const dir = options.dataDir ?? mkdtempSync(join(tmpdir(), "heddle-own-"));
  const cluster = new EmbeddedPostgres({ dataDir: dir, ...(options.settings && { settings: options.settings }) });
  const { uri, socket } = await cluster.start();
  const sql = postgres(uri, { max: 1, onnotice: () => {} });
  await migrate(sql).finally(() => sql.end());
  const pid = () => Number(readFileSync(join(dir, "postgres", "data", "postmaster.pid"), "utf8").split("\n")[0]);
  return {
    uri,
    socket,
    pid,
    kill() {
      const postmaster = pid();
      process.kill(postmaster, "SIGSTOP"); // starts no backend meanwhile
      const processes = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n");
      const backends = processes
        .map((line) => line.trim().split(/ +/))
        .filter(([, parent]) => Number(parent) === postmaster);
      for (const killed of [postmaster, ...backends.map(([backend]) => backend)])
        process.kill(Number(killed), "SIGKILL");
    },
    restart: () => cluster.ensureRunning(),
    async stop() {
      await cluster.stop();
      if (options.dataDir === undefined) rmSync(dir, { recursive: true, force: true });
    },
  };
}

/**
 * Creates the official saver. Its `end()` does not wait for the connections, and would throw when the server closes
 * them.
 */
export function officialSaver(uri: string, socket?: string | null): PostgresSaver {
  const address = new URL(uri);
  if (socket) address.searchParams.set("host", socket);
  const saver = PostgresSaver.fromConnString(address.href);
  (saver as unknown as { pool: EventEmitter }).pool.on("error", () => {});
  return saver;
}
