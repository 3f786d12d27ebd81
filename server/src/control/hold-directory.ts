import { join } from "node:path";

import { ConfigError } from "../base/config/options.ts";
import { withFileLock } from "../base/db/file-lock.ts";
import { deferred } from "../base/deferred.ts";

/** A predecessor that is ending gets so long. */
const PATIENCE_MS = 3_000;

/**
 * One control plane works on a directory: a second one would end the first one's instances as its own, and build into
 * the same places. A holder that was killed holds nothing.
 * @returns what lets go of it. Throws ConfigError when somebody else has it
 */
export async function holdDirectory(directory: string): Promise<() => Promise<void>> {
  const [held, over] = [deferred<void>(), deferred<void>()];
  const holding = withFileLock(join(directory, "control.lock"), PATIENCE_MS, () => {
    held.resolve();
    return over.promise;
  });
  await Promise.race([held.promise, holding]).catch((error: unknown) => {
    const [, pid = "?"] = /process (\d+) holds/.exec((error as Error).message) ?? [];
    if (pid === "?") throw error;
    throw new ConfigError(
      `Another control plane, process ${pid}, works on ${directory}: one does at a time. Stop it, or give this one a ` +
        "data directory of its own (--data-dir).",
    );
  });
  return async () => {
    over.resolve();
    await holding;
  };
}
