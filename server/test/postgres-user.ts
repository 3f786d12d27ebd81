import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";

import type { EmbeddedPostgresOptions, PostgresAddress } from "../src/base/db/embedded-postgres.ts";

export const USER_SCRIPT = fileURLToPath(new URL("fixtures/postgres-user.ts", import.meta.url));
const TSX = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;

interface UserOptions {
  /** Program that runs the process with other rights, with its arguments. */
  through?: string[];
  options?: Partial<EmbeddedPostgresOptions>;
  spawned?: SpawnOptions;
}

/** Starts another process that uses the data directory's Postgres. */
export function startPostgresUser(
  dataDir: string,
  { through = [], options = {}, spawned = {} }: UserOptions = {},
): { child: ChildProcess; connected: Promise<PostgresAddress> } {
  const [program, ...args] = [...through, process.execPath, "--import", TSX, USER_SCRIPT, dataDir];
  const child = spawn(program!, [...args, JSON.stringify(options)], {
    stdio: ["ignore", "pipe", "inherit"],
    ...spawned,
  });
  const connected = Promise.race([
    once(createInterface(child.stdout!), "line").then(([line]) => JSON.parse(line as string) as PostgresAddress),
    once(child, "exit").then(([code]) => Promise.reject(new Error(`exited with ${code}`))),
  ]);
  return { child, connected };
}
