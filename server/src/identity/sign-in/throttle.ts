/**
 * How often a visitor may try a password: by account and network (one machine guesses a password), and by network
 * (one machine tries a password on many accounts). Attempts that are refused count for nothing else, so no network
 * can use up what others may do.
 *
 * An account that is tried from many unknown networks is never closed either: then each unknown network gets fewer
 * attempts, and these pass through a slow lane. A network, or a browser by its device cookie, from which somebody has
 * signed in to the account before is known and is not slowed. A known browser is counted by itself, so it gets in
 * whatever else its network does.
 *
 * An attempt counts before the password is looked at, so that concurrent guesses cannot slip through. A success
 * takes back what it counted, hence a busy office is not locked out by its typing errors or by its size. Unknown
 * accounts are counted like known ones, and all answers are the same.
 */
import { createHash } from "node:crypto";

import type { Sql } from "../../base/db/connect.ts";
import { AppError } from "../../base/errors.ts";
import { networkOf, wideNetworkOf } from "../../base/http/client-ip.ts";
import type { SlowLane } from "./slow-lane.ts";
import { countAttempt, forgetAttempts, selectKnownVisitors, takeBackAttempt, upsertKnownVisitor } from "./sql.ts";

interface Limit {
  attempts: number;
  seconds: number;
}

const QUARTER_HOUR = 15 * 60;
const NETWORK: Limit = { attempts: 100, seconds: QUARTER_HOUR };
/** Of one account from one network, or from one known browser. */
const ACCOUNT: Limit = { attempts: 10, seconds: QUARTER_HOUR };
/** Of one account from all unknown networks; beyond it the account counts as attacked. */
const ATTACK: Limit = { attempts: 100, seconds: 3600 };
/** From one unknown network while the account is attacked. */
const ATTEMPTS_UNDER_ATTACK = 3;
/** Starts and ends at an identity provider, which checks passwords itself. */
const PROVIDER: Limit = { attempts: 300, seconds: QUARTER_HOUR };
const KNOWN_SECONDS = 90 * 24 * 3600;

interface Attempt {
  account: string;
  ip: string;
  /** The device cookie's token. */
  device: string | undefined;
}

/** What an attempt has counted. */
export interface CountedAttempt {
  account: string;
  /** Whether somebody has signed in to the account from there. */
  isKnown: boolean;
  network: string;
  /** Attempts with the same one have their passwords checked one after the other. */
  turn: string;
  /** Forgotten by a success. */
  forgets: string[];
  /** Taken back by a success. */
  takesBack: string[];
}

/** Counts an attempt; 429 when there were too many. */
export async function countSignIn(sql: Sql, lane: SlowLane, { account, ip, device }: Attempt): Promise<CountedAttempt> {
  const network = networkOf(ip);
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
  const taken = { ...counted, isKnown, forgets: [byAccount], takesBack: [byNetwork] };
  if (isKnown) return taken;
  const byAttack = bucket("account", account);
  const all = await countAttempt(sql, byAttack, ATTACK.seconds);
  if (all.attempts > ATTACK.attempts) {
    if (tried.attempts > ATTEMPTS_UNDER_ATTACK) throw tooMany(tried.retry_after);
    if (!(await lane.pass(wideNetworkOf(ip)))) throw tooMany(2);
  }
  return { ...taken, takesBack: [byNetwork, byAttack] };
}

/** The password was right: what was counted is forgotten, and from now on the network and the browser are known. */
export async function noteSuccess(
  sql: Sql,
  { account, network, forgets, takesBack }: CountedAttempt,
  { userId, device }: { userId: string; device: string | undefined },
): Promise<void> {
  await forgetAttempts(sql, forgets);
  for (const hash of takesBack) await takeBackAttempt(sql, hash);
  const visitors = [visitorBucket("network", account, network)];
  if (device !== undefined) visitors.push(visitorBucket("device", account, device));
  await upsertKnownVisitor(sql, userId, visitors, KNOWN_SECONDS);
}

/** Whether somebody has signed in to the account in the browser that has this token. */
export async function isKnownDevice(sql: Sql, account: string, device: string): Promise<boolean> {
  return (await selectKnownVisitors(sql, [visitorBucket("device", account, device)])).length > 0;
}

/** Counts a guess at the current password by a person who is signed in. @returns what a right one calls */
export async function countPasswordChange(sql: Sql, sessionId: string): Promise<() => Promise<void>> {
  const hash = bucket("session", sessionId);
  await count(sql, hash, ACCOUNT);
  return () => forgetAttempts(sql, [hash]);
}

/** Counts a start or an end at an identity provider: each calls the provider. */
export async function countByNetwork(sql: Sql, ip: string): Promise<void> {
  await count(sql, bucket("provider", networkOf(ip)), PROVIDER);
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
