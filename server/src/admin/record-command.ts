import { userInfo } from "node:os";

import type { Sql } from "../base/db/connect.ts";
import type { Log } from "../base/log.ts";
import type { Keyring } from "../base/secrets/keyring.ts";
import { createAuditLog } from "../identity/audit/audit-log.ts";
import { sealKeyOf } from "../identity/audit/seal.ts";

/**
 * A change that was made from the command line, for the audit log: by Heddle itself, on behalf of the machine's
 * user. `of` tells whose log it belongs in; without, it is in the operator's export alone.
 */
export async function recordCommand(
  sql: Sql,
  log: Log,
  operation: string,
  target: Record<string, string>,
  options: { of?: { organizationId: string; workspaceId: string }; keyring?: Keyring } = {},
): Promise<void> {
  const { of = { organizationId: "", workspaceId: "" }, keyring } = options;
  const audit = createAuditLog(sql, log, { sealKey: keyring && sealKeyOf(keyring.newest) });
  const actor = { kind: "system", id: "", name: `command line, ${userName()}`, userId: null } as const;
  await audit.record({ principal: { actor, ...of }, ip: "", operation, target, status: 200 });
  await audit.stop();
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // an id without an account, as in containers
    return `user ${process.getuid?.() ?? ""}`;
  }
}
