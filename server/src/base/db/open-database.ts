import type { Log } from "../log.ts";
import type { DatabaseAddress } from "./connect.ts";
import { EmbeddedPostgres } from "./embedded-postgres.ts";

const WATCH_MS = 250;

export interface Database {
  address: DatabaseAddress;
  close(): Promise<void>;
}

/** The Postgres of the given URL, or the embedded one, which is started again whenever it dies. */
export async function openDatabase(options: { uri: string | undefined; dataDir: string; log: Log }): Promise<Database> {
  const { uri, dataDir, log } = options;
  if (uri) return { address: { uri, socket: null }, close: () => Promise.resolve() };

  const embedded = new EmbeddedPostgres({ dataDir, log: (message) => log.warn(message) });
  const address = await embedded.start();
  let pending: Promise<unknown> = Promise.resolve();
  let busy = false;
  const watch = setInterval(() => {
    if (busy) return;
    busy = true;
    pending = embedded
      .ensureRunning()
      .catch((error: unknown) => log.error({ err: error }, "the embedded Postgres died and cannot be started again"))
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
