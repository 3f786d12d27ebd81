import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";

import { EmbeddedPostgres } from "../../server/src/base/db/embedded-postgres.ts";
import { migrate } from "../../server/src/base/db/migrate.ts";

/** Starts a Postgres with the server's schema, for the pytest suite of the Python graph host. */
export async function startTestDatabase(): Promise<{ uri: string; stop(): Promise<void> }> {
  const dir = mkdtempSync(join(tmpdir(), "heddle-python-suite-"));
  const cluster = new EmbeddedPostgres({ dataDir: dir, settings: { fsync: "off" } });
  const { uri } = await cluster.start();
  const sql = postgres(uri, { max: 1, onnotice: () => {} });
  await migrate(sql).finally(() => sql.end());
  const stop = async () => {
    await cluster.stop();
    rmSync(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  };
  return { uri, stop };
}
