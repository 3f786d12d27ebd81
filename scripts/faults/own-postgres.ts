import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { EmbeddedPostgres } from "../../server/src/base/db/embedded-postgres.ts";

/** A Postgres of a program's own, without durability, whose data go with it, also on Ctrl+C. */
export async function startOwnPostgres(name: string) {
  const dataDir = mkdtempSync(join(tmpdir(), `heddle-${name}-`));
  const postgres = new EmbeddedPostgres({ dataDir, settings: { fsync: "off", synchronous_commit: "off" } });
  const close = async () => {
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void close().finally(() => process.exit(1)));
  try {
    return { database: await postgres.start(), close };
  } catch (error) {
    await close();
    throw error;
  }
}
