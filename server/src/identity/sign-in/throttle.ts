/**
 * Limits password attempts per account and network (one machine guessing a password), and per network (one machine
 * trying many accounts). Rejected attempts count towards no other limit, so no network can use up another's allowance.
 *
 * An account attacked from many unknown networks is never locked. Each unknown network then gets fewer attempts, and
 * they are delayed. A network, or a browser with a device cookie, that has signed in to the account before
 * is known and not slowed. A known browser is counted separately, so it gets in whatever else its network does.
 *
 * An attempt counts before the password is checked, so that concurrent guesses cannot slip through. A success takes
 * back its counts, so a busy office is not locked out by typing errors or by its size. Unknown accounts are counted
 * like known ones, and all responses are the same.
 */
import { createHash } from "node:crypto";

import type { Sql } from "../../base/db/connect.ts";
import { AppError } from "../../base/errors.ts";
import { toNetwork, toWideNetwork } from "../../base/http/client-ip.ts";
import type { AttemptThrottle } from "./attempt-throttle.ts";
import { countAttempt, forgetAttempts, selectKnownVisitors, undoAttempt, upsertKnownVisitor } from "./sql.ts";

interface Limit {
  attempts: number;
  seconds: number;
}

const QUARTER_HOUR = 15 * 60;
const NETWORK: Limit = { attempts: 100, seconds: QUARTER_HOUR };
/** Limit per account and network, or per account and known browser. */
const ACCOUNT: Limit = { attempts: 10, seconds: QUARTER_HOUR };
/** Limit per account over all unknown networks; beyond it the account counts as under attack. */
const ATTACK: Limit = { attempts: 100, seconds: 3600 };
/** Limit per unknown network while the account is under attack. */
const ATTEMPTS_UNDER_ATTACK = 3;
/** Limit of starts and callbacks of provider sign-ins; the provider checks passwords itself. */
const PROVIDER: Limit = { attempts: 300, seconds: QUARTER_HOUR };
const KNOWN_SECONDS = 90 * 24 * 3600;

interface Attempt {
  account: string;
  ip: string;
  /** Token of the device cookie. */
  device: string | undefined;
}

/** Counters incremented by an attempt. */
export interface CountedAttempt {
  account: string;
  /** Whether this origin has signed in to the account before. */
  isKnown: boolean;
  network: string;
  /** Queue key: passwords of attempts with the same key are checked one after another. */
  turn: string;
  /** Buckets that a success deletes. */
  forgets: string[];
  /** Buckets that a success decrements. */
  takesBack: string[];
}

/** Counts an attempt. Throws 429 when there were too many. */
export async function countSignIn(
  sql: Sql,
  throttle: AttemptThrottle,
  { account, ip, device }: Attempt,
): Promise<CountedAttempt> {
  const network = toNetwork(ip);
  const knownNetwork = visitorBucket("network", account, network);
  const knownDevice = device === undefined ? undefined : visitorBucket("device", account, device);
  const known = await selectKnownVisitors(sql, [knownNetwork, ...(knownDevice === undefined ? [] : [knownDevice])]);
  const counted = { account, network, turn: network, takesBack: [] as string[] };
  if (device !== undefined && known.includes(knownDevice!)) {
    const byDevice = bucket("account+device", account, device);
    const { attempts } = await countAttempt(sql, byDevice, ACCOUNT.seconds);
    if (attempts <= ACCOUNT.attempts) {
      return { ...counted, turn: byDevice, isKnown: true, forgets: [byDevice] };
    }
  }
  const isKnown = known.includes(knownNetwork);
  const byNetwork = bucket("network", network);
  await count(sql, byNetwork, NETWORK);
  const byAccount = bucket("account+network", account, network);
  const tried = await count(sql, byAccount, ACCOUNT);
  const recorded = { ...counted, isKnown, forgets: [byAccount], takesBack: [byNetwork] };
  if (isKnown) return recorded;
  const byAttack = bucket("account", account);
  const all = await countAttempt(sql, byAttack, ATTACK.seconds);
  if (all.attempts > ATTACK.attempts) {
    if (tried.attempts > ATTEMPTS_UNDER_ATTACK) throw tooMany(tried.retry_after);
    if (!(await throttle.pass(toWideNetwork(ip)))) throw tooMany(2);
  }
  return { ...recorded, takesBack: [byNetwork, byAttack] };
}

/** Records a correct password: resets the counters and remembers the network and the browser. */
export async function noteSuccess(
  sql: Sql,
  { account, network, forgets, takesBack }: CountedAttempt,
  { userId, device }: { userId: string; device: string | undefined },
): Promise<void> {
  await forgetAttempts(sql, forgets);
  for (const hash of takesBack) await undoAttempt(sql, hash);
  const visitors = [visitorBucket("network", account, network)];
  if (device !== undefined) visitors.push(visitorBucket("device", account, device));
  await upsertKnownVisitor(sql, userId, visitors, KNOWN_SECONDS);
}

/** Returns true if the browser with this token has signed in to the account before. */
export async function isKnownDevice(sql: Sql, account: string, device: string): Promise<boolean> {
  return (await selectKnownVisitors(sql, [visitorBucket("device", account, device)])).length > 0;
}

/** Counts a guess at the current password by a signed-in person. @returns a callback for a correct guess */
export async function countPasswordChange(sql: Sql, sessionId: string): Promise<() => Promise<void>> {
  const hash = bucket("session", sessionId);
  await count(sql, hash, ACCOUNT);
  return () => forgetAttempts(sql, [hash]);
}

/** Counts a start or a callback of a provider sign-in, since each calls the provider. */
export async function countByNetwork(sql: Sql, ip: string): Promise<void> {
  await count(sql, bucket("provider", toNetwork(ip)), PROVIDER);
}

async function count(sql: Sql, hash: string, limit: Limit): Promise<{ attempts: number; retry_after: number }> {
  const counted = await countAttempt(sql, hash, limit.seconds);
  if (counted.attempts > limit.attempts) throw tooMany(counted.retry_after);
  return counted;
}

const tooMany = (seconds: number): AppError =>
  new AppError(429, "Too many attempts to sign in. Try again later.", { headers: { "Retry-After": String(seconds) } });

const bucket = (...parts: string[]): string => createHash("sha256").update(parts.join("\0")).digest("hex");
const visitorBucket = (kind: "network" | "device", account: string, id: string): string =>
  bucket(`known ${kind}`, account, id);
