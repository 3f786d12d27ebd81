import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

import { UsageError, type FlagSpec } from "./flags.ts";
import { SERVER_FLAGS } from "./server-flags.ts";

/** For commands that work on the data of a platform. */
export const PLACE_FLAGS = {
  "data-dir": {
    type: "text",
    placeholder: "DIR",
    env: ["HEDDLE_DATA_DIR"],
    default: ".heddle",
    description: "The platform's data directory.",
  },
  "postgres-uri": SERVER_FLAGS["postgres-uri"],
} as const satisfies Record<string, FlagSpec>;

/** Where the data is. A directory without any is a mistake, not a place for a new platform. */
export function readPlace(given: { "data-dir": string; "postgres-uri"?: string | undefined }): {
  dataDir: string;
  databaseUri: string | undefined;
  env: Record<string, string | undefined>;
} {
  const dataDir = resolve(given["data-dir"]);
  const databaseUri = given["postgres-uri"];
  if (databaseUri === undefined && !existsSync(join(dataDir, "postgres"))) {
    throw new UsageError(`There is no data of Heddle in ${dataDir}. Name its directory with --data-dir.`);
  }
  return { dataDir, databaseUri, env: process.env };
}
