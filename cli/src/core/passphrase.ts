import { readFileSync } from "node:fs";

import { UsageError, type FlagSpec } from "./flags.ts";

export const PASSPHRASE_FLAGS = {
  "without-keys": {
    type: "switch",
    default: false,
    description: "Leave out the encryption keys. Without them, stored secrets cannot be read.",
  },
  "passphrase-file": {
    type: "text",
    placeholder: "FILE",
    description: "File with the passphrase, instead of HEDDLE_BACKUP_PASSPHRASE.",
  },
} as const satisfies Record<string, FlagSpec>;

/** Of commands that read archives. */
export const AUTHENTICATION_FLAG = {
  authenticated: {
    type: "switch",
    default: false,
    description: "Reject an archive that the passphrase does not authenticate, such as those of Heddle 0.6.",
  },
} as const satisfies Record<string, FlagSpec>;

const SHORTEST = 8;

/** Returns the passphrase of the flag or the variable; undefined when neither is given. */
export function readPassphrase(file: string | undefined, env: Record<string, string | undefined>): string | undefined {
  const variable = env["HEDDLE_BACKUP_PASSPHRASE"] || undefined;
  const text = file === undefined ? variable : readFile(file);
  if (text !== undefined && text.length < SHORTEST) {
    throw new UsageError(`The passphrase needs at least ${SHORTEST} characters.`);
  }
  return text;
}

function readFile(file: string): string {
  try {
    return readFileSync(file, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    throw new UsageError(`Cannot read the passphrase from ${file}: ${(error as Error).message}`);
  }
}
