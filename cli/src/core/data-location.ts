import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

import { UsageError, type FlagSpec } from "./flags.ts";
import { SERVER_FLAGS } from "./server-flags.ts";

/** Flags of commands that work on a platform's data. */
export const DATA_FLAGS = {
  "data-dir": {
    type: "text",
    placeholder: "DIR",
    env: ["HEDDLE_DATA_DIR"],
    default: ".heddle",
    description: "The platform's data directory.",
  },
  "postgres-uri": SERVER_FLAGS["postgres-uri"],
} as const satisfies Record<string, FlagSpec>;

/** Returns the location of the data. A directory without data is a mistake, not a location for a new platform. */
export function readDataLocation(flags: { "data-dir": string; "postgres-uri"?: string | undefined }): {
  dataDir: string;
  databaseUri: string | undefined;
  env: Record<string, string | undefined>;
} {
  const dataDir = resolve(flags["data-dir"]);
  const databaseUri = flags["postgres-uri"];
  if (databaseUri === undefined && !existsSync(join(dataDir, "postgres"))) {
    throw new UsageError(`${dataDir} contains no Heddle data. Name the data directory with --data-dir.`);
  }
  return { dataDir, databaseUri, env: process.env };
}
