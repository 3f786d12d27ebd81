/**
 * How often one may try to sign in: by account from one network (somebody guesses a password), by account from
 * anywhere (many machines guess one password) and by network (somebody tries one password on many accounts).
 *
 * An attempt counts before the password is looked at, so that concurrent guesses cannot slip through. A success
 * takes back what the account's own network counted, hence a busy office is not locked out by its typing errors.
 * Unknown accounts are counted like known ones, and all answers are the same.
 */
import { createHash } from "node:crypto";

import type { Sql } from "../../base/db/connect.ts";
import { AppError } from "../../base/errors.ts";
import { networkOf } from "../../base/http/client-ip.ts";
import { countAttempts, forgetAttempts } from "./sql.ts";

interface Limit {
  attempts: number;
  seconds: number;
}

const ACCOUNT_AND_NETWORK: Limit = { attempts: 10, seconds: 15 * 60 };
/** Wide, because whoever reaches it locks somebody else out. */
const ACCOUNT: Limit = { attempts: 100, seconds: 3600 };
const NETWORK: Limit = { attempts: 100, seconds: 15 * 60 };

/** Counts an attempt; 429 when there were too many. */
export async function countSignIn(sql: Sql, account: string, ip: string): Promise<void> {
  const network = networkOf(ip);
  await count(sql, [
    { hash: bucket("account+network", account, network), ...ACCOUNT_AND_NETWORK },
    { hash: bucket("account", account), ...ACCOUNT },
    { hash: bucket("network", network), ...NETWORK },
  ]);
}

/** The same for what has no account yet: starting to sign in at a provider. */
export async function countByNetwork(sql: Sql, ip: string): Promise<void> {
  await count(sql, [{ hash: bucket("network", networkOf(ip)), ...NETWORK }]);
}

export async function forgetSignIn(sql: Sql, account: string, ip: string): Promise<void> {
  await forgetAttempts(sql, bucket("account+network", account, networkOf(ip)));
}

async function count(sql: Sql, limits: (Limit & { hash: string })[]): Promise<void> {
  const counted = await countAttempts(sql, limits);
  const over = limits.flatMap((limit) => {
    const found = counted.find((one) => one.hash === limit.hash);
    return found && found.attempts > limit.attempts ? [found.retry_after] : [];
  });
  if (over.length === 0) return;
  const headers = { "Retry-After": String(Math.max(...over)) };
  throw new AppError(429, "Too many attempts to sign in. Try again later.", { headers });
}

const bucket = (...parts: string[]): string => createHash("sha256").update(parts.join("\0")).digest("hex");
