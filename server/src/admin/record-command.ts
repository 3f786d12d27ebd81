import { userInfo } from "node:os";

import type { Sql } from "../base/db/connect.ts";
import type { Log } from "../base/log.ts";
import { readOptions } from "../base/config/options.ts";
import { defaultKeyFile, readKeyFile } from "../base/secrets/key-file.ts";
import { Keyring } from "../base/secrets/keyring.ts";
import { secretsOptions } from "../base/secrets/settings.ts";
import { createAuditLog } from "../identity/audit/audit-log.ts";
import { deriveSealKey } from "../identity/audit/seal.ts";
import type { DataLocation } from "./with-database.ts";

/**
 * Records a change made from the command line in the audit log, as Heddle itself on behalf of the OS user. `of` names
 * the tenant whose log receives the line; without it, the line appears in the operator's export only. It is sealed with
 * the newest key of `keyring`, or else of the keys that `location` provides.
 */
export async function recordCommand(
  sql: Sql,
  log: Log,
  operation: string,
  target: Record<string, string>,
  options: { of?: { organizationId: string; workspaceId: string }; keyring?: Keyring; location?: DataLocation } = {},
): Promise<void> {
  const { of = { organizationId: "", workspaceId: "" }, location } = options;
  const keyring = options.keyring ?? (location && keyringAtHand(location));
  const audit = createAuditLog(sql, log, { sealKey: keyring && deriveSealKey(keyring.newest), adopts: false });
  const actor = { kind: "system", id: "", name: `command line, ${userName()}`, userId: null } as const;
  await audit.record({ principal: { actor, ...of }, ip: "", operation, target, status: 200 });
  await audit.stop();
}

/** Returns undefined where no key exists, as on a machine that has only the database's address; creates none. */
function keyringAtHand({ dataDir, env = {} }: DataLocation): Keyring | undefined {
  const { secretsKeys, secretsKeyFile } = readOptions(secretsOptions, env);
  if (secretsKeys) return new Keyring(secretsKeys, "HEDDLE_SECRETS_KEYS");
  const path = secretsKeyFile ?? defaultKeyFile(dataDir);
  const text = readKeyFile(path);
  return text === null ? undefined : new Keyring(text, path);
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // a uid without an account, as in containers
    return `user ${process.getuid?.() ?? ""}`;
  }
}
