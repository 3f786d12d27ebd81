import type { Log } from "../log.ts";
import { setTimeout as sleep } from "node:timers/promises";

import { connect, type DatabaseAddress } from "./connect.ts";
import { isPassing, isUnreachable } from "./retry.ts";
import { RepeatedFailure } from "../repeated-failure.ts";
import { EmbeddedPostgres } from "./embedded-postgres.ts";
import type { EmbeddedPostgresSettings } from "./settings.ts";
import { rejectUnfinishedRestore } from "./unfinished-restore.ts";

const WATCH_MS = 250;

export interface Database {
  address: DatabaseAddress;
  close(): Promise<void>;
}

/** Opens the Postgres of the given URL, or the embedded one, which is restarted whenever it dies. */
export async function openDatabase(options: {
  uri: string | undefined;
  dataDir: string;
  log: Log;
  settings?: EmbeddedPostgresSettings;
}): Promise<Database> {
  const { uri, dataDir, log, settings } = options;
  rejectUnfinishedRestore(dataDir);
  if (uri) {
    const address = { uri, socket: null };
    await waitForDatabase(address, log);
    return { address, close: () => Promise.resolve() };
  }

  const embedded = new EmbeddedPostgres({
    dataDir,
    log: (message) => log.warn(message),
    ...(settings && { lingerSeconds: settings.postgresLingerSecs }),
  });
  const address = await embedded.start();
  let pending: Promise<unknown> = Promise.resolve();
  let busy = false;
  const message = "the embedded Postgres died and could not be restarted";
  const failure = new RepeatedFailure({ log, message });
  const watch = setInterval(() => {
    if (busy) return;
    busy = true;
    pending = embedded
      .ensureRunning()
      .then(
        () => failure.succeeded(),
        (error: unknown) => failure.failed(error),
      )
      .finally(() => (busy = false));
  }, WATCH_MS);
  return {
    address,
    async close() {
      clearInterval(watch);
      await pending;
      await embedded.stop();
    },
  };
}

/** Time to wait for a database that restarts or fails over. */
const UNAVAILABLE_MS = 30_000;
/** Time to wait when the connection is refused, which more likely means a wrong address. */
const REJECTED_MS = 3000;

/** Resolves when the database answers. Rejects with its last error on timeout. */
async function waitForDatabase(address: DatabaseAddress, log: Log): Promise<void> {
  const sql = connect(address, { max: 1, name: "heddle start", silenceMs: 5000 });
  const startedAt = performance.now();
  try {
    for (let tries = 1; ; tries++) {
      try {
        await sql`select 1`;
        return;
      } catch (error) {
        const patience = isUnreachable(error) ? REJECTED_MS : UNAVAILABLE_MS;
        if (!isPassing(error) || performance.now() - startedAt > patience) throw error;
        if (tries === 1) log.warn({ err: error }, "the database is not reachable yet; waiting for it");
        await sleep(250);
      }
    }
  } finally {
    await sql.end({ timeout: 1 });
  }
}
