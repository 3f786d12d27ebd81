import { existsSync } from "node:fs";
import { join } from "node:path";

import { ConfigError } from "../config/options.ts";

/** File in a data directory that a restore is filling, or has left half-filled. */
export const restoreMarker = (dataDir: string): string => join(dataDir, "restore.unfinished");

/** @throws ConfigError when a restore into the directory has not finished */
export function rejectUnfinishedRestore(dataDir: string): void {
  if (!existsSync(restoreMarker(dataDir))) return;
  throw new ConfigError(
    `A restore into ${dataDir} has not finished, so its data is incomplete. Run heddle restore again, which starts ` +
      "over, or delete the directory.",
  );
}
