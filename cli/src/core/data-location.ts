import { accessSync, constants, statSync } from "node:fs";
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
  if (databaseUri === undefined) requireData(dataDir);
  return { dataDir, databaseUri, env: process.env };
}

function requireData(dataDir: string): void {
  const password = join(dataDir, "postgres", "password");
  try {
    accessSync(password, constants.R_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EACCES" && code !== "EPERM") {
      throw new UsageError(`${dataDir} contains no Heddle data. Name the data directory with --data-dir.`);
    }
    const { uid } = statSync(dataDir);
    throw new Error(
      `This user (${process.getuid?.()}) may not read ${dataDir}, which belongs to user ${uid}. Run the command as ` +
        `that user: sudo -u '#${uid}' heddle …`,
    );
  }
}
