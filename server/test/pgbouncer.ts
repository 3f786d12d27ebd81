import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { untilListening } from "../../test/faults/until-listening.ts";
import { freePort } from "../src/base/free-port.ts";
import { atEnd } from "./at-end.ts";

/**
 * Starts Debian's PgBouncer with its default settings and session pooling before a database. Needs `pgbouncer` in the
 * PATH. @returns the URI through it
 */
export async function testPgbouncer(databaseUri: string): Promise<string> {
  const port = await freePort();
  const directory = mkdtempSync(join(tmpdir(), "heddle-pgbouncer-"));
  const target = new URL(databaseUri);
  const database = target.pathname.slice(1);
  const address = `host=${target.hostname} port=${target.port} user=${target.username} password=${target.password}`;
  const file = join(directory, "pgbouncer.ini");
  const lines = [
    "[databases]",
    `${database} = ${address}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = any",
    "pool_mode = session",
    "default_pool_size = 100",
  ];
  writeFileSync(file, `${lines.join("\n")}\n`);
  chmodSync(directory, 0o755);
  // it does not run as root
  const user = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const bouncer = spawn("pgbouncer", [...user, "-q", file], { stdio: "ignore" });
  const ended = once(bouncer, "exit");
  atEnd(async () => {
    bouncer.kill("SIGKILL");
    await ended;
    rmSync(directory, { recursive: true, force: true });
  });
  const failed = ended.then(([code]) => {
    throw new Error(`pgbouncer exited with code ${code}`);
  });
  failed.catch(() => {});
  await Promise.race([failed, untilListening(port)]);
  target.port = String(port);
  target.hostname = "127.0.0.1";
  return target.href;
}
