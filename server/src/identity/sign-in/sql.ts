import type { Sql, Transaction } from "../../base/db/connect.ts";

export interface PasswordRow {
  user_id: string;
  email: string;
  /** Null for people who sign in only at a provider. */
  password_hash: string | null;
  disabled: boolean;
}

/** `email` in lower case. */
export async function selectPassword(sql: Sql, email: string): Promise<PasswordRow | undefined> {
  const [row] = await sql<PasswordRow[]>`
    select u.id as user_id, u.email, p.password_hash, u.disabled_at is not null as disabled
    from users u left join user_passwords p on p.user_id = u.id where u.email = ${email}`;
  return row;
}

export async function upsertPassword(sql: Sql | Transaction, userId: string, hash: string): Promise<void> {
  await sql`
    insert into user_passwords (user_id, password_hash) values (${userId}, ${hash})
    on conflict (user_id) do update set password_hash = excluded.password_hash, changed_at = now()`;
}

/** Stores a rehash with the current parameters, unless the password has changed since. */
export async function rehashPassword(sql: Sql, userId: string, old: string, hash: string): Promise<void> {
  await sql`update user_passwords set password_hash = ${hash} where user_id = ${userId} and password_hash = ${old}`;
}

export interface NewSession {
  id: string;
  user_id: string;
  token_hash: string;
  idle_seconds: number;
  max_seconds: number;
  method: "password" | "oidc";
  ip: string;
  user_agent: string;
}

/** @returns the absolute expiry */
export async function insertSession(sql: Sql | Transaction, session: NewSession): Promise<Date> {
  const [row] = await sql<{ expires_at: Date }[]>`
    insert into sessions (id, user_id, token_hash, idle_seconds, expires_at, method, ip, user_agent)
    values (${session.id}, ${session.user_id}, decode(${session.token_hash}, 'hex'), ${session.idle_seconds},
      now() + make_interval(secs => ${session.max_seconds}), ${session.method}, ${session.ip}, ${session.user_agent})
    returning expires_at`;
  return row!.expires_at;
}

export interface SessionRow {
  id: string;
  user_id: string;
  /** Expiry if the session is not used before. */
  ends_at: Date;
}

/**
 * Returns the session of a token if it has not expired, and updates its last use at most once a minute. Served by the
 * unique index on token_hash.
 */
export async function selectSession(sql: Sql, tokenHash: string): Promise<SessionRow | undefined> {
  const [row] = await sql<SessionRow[]>`
    with found as (
      select id, user_id, last_used_at, least(expires_at, now() + make_interval(secs => idle_seconds)) as ends_at
      from sessions
      where token_hash = decode(${tokenHash}, 'hex') and expires_at > now()
        and last_used_at > now() - make_interval(secs => idle_seconds)
    ), used as (
      update sessions s set last_used_at = now()
      from found where s.id = found.id and found.last_used_at < now() - interval '1 minute'
    )
    select id, user_id, ends_at from found`;
  return row;
}

export async function deleteSession(
  sql: Sql | Transaction,
  tokenHash: string,
): Promise<{ id: string; user_id: string } | undefined> {
  const [row] = await sql<{ id: string; user_id: string }[]>`
    delete from sessions where token_hash = decode(${tokenHash}, 'hex') returning id, user_id`;
  return row;
}

/** Deletes a person's sessions except one that may stay. @returns the count */
export async function deleteUserSessions(
  sql: Sql | Transaction,
  userId: string,
  except: string | null = null,
): Promise<number> {
  const deleted = await sql`
    delete from sessions where user_id = ${userId} and id is distinct from ${except}::uuid`;
  return deleted.count;
}

/**
 * Deletes a person's least recently used sessions beyond `keep`, which bounds the rows of scripts that sign in often.
 */
export async function trimSessions(sql: Sql | Transaction, userId: string, keep: number): Promise<void> {
  await sql`
    delete from sessions where id in (
      select id from sessions where user_id = ${userId} order by last_used_at desc, id desc offset ${keep})`;
}

/** Counts one attempt in a window that starts with the first. `retry_after` is in seconds. */
export async function countAttempt(
  sql: Sql,
  hash: string,
  seconds: number,
): Promise<{ attempts: number; retry_after: number }> {
  const [row] = await sql<{ attempts: number; retry_after: number }[]>`
    insert into sign_in_attempts as a (bucket, attempts, window_ends)
    values (decode(${hash}, 'hex'), 1, now() + make_interval(secs => ${seconds}))
    on conflict (bucket) do update set
      attempts = case when a.window_ends <= now() then 1 else a.attempts + 1 end,
      window_ends = case when a.window_ends <= now() then excluded.window_ends else a.window_ends end
    returning attempts, greatest(1, ceil(extract(epoch from window_ends - now())))::int as retry_after`;
  return row!;
}

export async function undoAttempt(sql: Sql, hash: string): Promise<void> {
  await sql`update sign_in_attempts set attempts = greatest(attempts - 1, 0) where bucket = decode(${hash}, 'hex')`;
}

export async function forgetAttempts(sql: Sql, hashes: string[]): Promise<void> {
  await sql`
    delete from sign_in_attempts where bucket in (select decode(hash, 'hex') from unnest(${hashes}::text[]) as hash)`;
}

/** Returns the hashes of known visitors. Served by the primary key. */
export async function selectKnownVisitors(sql: Sql, hashes: string[]): Promise<string[]> {
  const rows = await sql<{ hash: string }[]>`
    select encode(bucket, 'hex') as hash from known_visitors
    where bucket in (select decode(hash, 'hex') from unnest(${hashes}::text[]) as hash) and expires_at > now()`;
  return rows.map(({ hash }) => hash);
}

export async function upsertKnownVisitor(sql: Sql, userId: string, hashes: string[], seconds: number): Promise<void> {
  await sql`
    insert into known_visitors (bucket, user_id, expires_at)
    select decode(hash, 'hex'), ${userId}, now() + make_interval(secs => ${seconds})
    from unnest(${hashes.toSorted()}::text[]) as hash
    on conflict (bucket) do update set user_id = excluded.user_id, expires_at = excluded.expires_at`;
}

/** Deletes expired rows in bounded batches. @returns the count */
export async function sweepSignIns(sql: Sql, limit: number): Promise<number> {
  const sessions = await sql`
    delete from sessions where id in (
      select id from sessions
      where expires_at < now() or last_used_at < now() - make_interval(secs => idle_seconds) limit ${limit})`;
  const attempts = await sql`
    delete from sign_in_attempts where bucket in (
      select bucket from sign_in_attempts where window_ends < now() limit ${limit} for update skip locked)`;
  const visitors = await sql`
    delete from known_visitors where bucket in (
      select bucket from known_visitors where expires_at < now() limit ${limit} for update skip locked)`;
  return sessions.count + attempts.count + visitors.count;
}

/** Returns the local user of a provider's identity, if known. */
export async function selectIdentity(
  sql: Sql | Transaction,
  issuer: string,
  subject: string,
): Promise<{ user_id: string } | undefined> {
  const [row] = await sql<{ user_id: string }[]>`
    select user_id from user_identities where issuer = ${issuer} and subject = ${subject}`;
  return row;
}

/** Binds a user to their first identity at a provider; does nothing when the user has one there. */
export async function bindFirstIdentity(
  sql: Sql,
  { issuer, subject, user_id }: { issuer: string; subject: string; user_id: string },
): Promise<void> {
  await sql.begin(async (tx) => {
    // of two first sign-ins at a time, one sees the other's identity
    await tx`select 1 from users where id = ${user_id} for update`;
    await tx`
      insert into user_identities (issuer, subject, user_id) select ${issuer}, ${subject}, ${user_id}
      where not exists (select 1 from user_identities where issuer = ${issuer} and user_id = ${user_id})
      on conflict do nothing`;
  });
}

/** Removes the identities of a user at all providers. */
export async function deleteIdentities(sql: Sql | Transaction, userId: string): Promise<void> {
  await sql`delete from user_identities where user_id = ${userId}`;
}
