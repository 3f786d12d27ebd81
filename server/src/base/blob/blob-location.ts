/**
 * The directory or bucket that holds the blobs of a database. The first process records it; a process configured with
 * another one is rejected, because the files it stores would be missing for the others. A recorded location is replaced
 * only while no file was ever stored in it and no process uses it. A data directory lost at each restart is therefore
 * no obstacle for an installation without attachments.
 */
import { randomUUID } from "node:crypto";
import { link, mkdir, open, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";

import type { Sql, Transaction } from "../db/connect.ts";
import { giveToOwner } from "../keep-owner.ts";

export interface BlobLocation {
  kind: "directory" | "bucket";
  id: string;
  /** Description for messages. */
  shown: string;
  /** Whether it is known to hold blobs. */
  in_use: boolean;
}

/** File that holds the location's id. The dot keeps it from being a blob's name. */
export const ID_FILE = "place.id";
/** A process not seen for this long is considered dead. */
const USER_SECONDS = 20;

/** Reads the id of a directory, which survives a move or a restore. Undefined when there is none. */
export async function readLocationId(directory: string): Promise<string | undefined> {
  try {
    return (await readFile(join(directory, ID_FILE), "utf8")).trim() || undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Describes a directory, and gives it an id when it has none. */
export async function directoryLocation(directory: string, shown: string): Promise<BlobLocation> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  let id = await readLocationId(directory);
  if (id === undefined) {
    id = randomUUID();
    const aside = join(directory, `${ID_FILE}.${randomUUID()}.tmp`);
    const file = await open(aside, "w", 0o600);
    try {
      await file.writeFile(`${id}\n`);
      giveToOwner(file.fd, directory);
      await file.datasync();
    } finally {
      await file.close();
    }
    // unlike a rename, this keeps the id written a moment earlier by another process's first start
    await link(aside, join(directory, ID_FILE)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
    await rm(aside, { force: true });
    id = (await readLocationId(directory))!;
  }
  return { kind: "directory", id, shown, in_use: await holdsBlobs(directory) };
}

export async function holdsBlobs(directory: string): Promise<boolean> {
  try {
    return (await readdir(directory)).some((name) => !name.startsWith(ID_FILE));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

export async function selectLocation(sql: Sql | Transaction): Promise<BlobLocation | undefined> {
  const [row] = await sql<BlobLocation[]>`select kind, id, shown, in_use from blob_place`;
  return row;
}

/** Returns the seconds since the last heartbeat of another process; undefined when none is alive. */
export async function selectUser(sql: Sql | Transaction, but: string | null = null): Promise<number | undefined> {
  const [row] = await sql<{ seconds: number }[]>`
    select extract(epoch from now() - max(seen_at))::float8 as seconds from blob_place_users
    where seen_at > now() - make_interval(secs => ${USER_SECONDS}) and process_id is distinct from ${but}
    having count(*) > 0`;
  return row?.seconds;
}

/**
 * Records the location, and this process as its user.
 *
 * @returns the location recorded instead, and whether a process uses it; null when the claim succeeded
 */
export function claimLocation(
  sql: Sql,
  location: BlobLocation,
  processId: string,
): Promise<{ location: BlobLocation; isAlive: boolean } | null> {
  return sql.begin(async (tx) => {
    await tx`
      insert into blob_place (kind, id, shown, in_use)
      values (${location.kind}, ${location.id}, ${location.shown}, ${location.in_use}) on conflict do nothing`;
    const [known] = await tx<BlobLocation[]>`select kind, id, shown, in_use from blob_place for update`;
    if (known!.kind !== location.kind || known!.id !== location.id) {
      const isAlive = (await selectUser(tx, processId)) !== undefined;
      if (isAlive || known!.in_use) return { location: known!, isAlive };
    }
    await updateLocation(tx, location);
    await beat(tx, location, processId);
    return null;
  });
}

/** Records the location, replacing any other. */
export const updateLocation = (tx: Transaction, { kind, id, shown, in_use }: BlobLocation) => tx`
  insert into blob_place (kind, id, shown, in_use) values (${kind}, ${id}, ${shown}, ${in_use})
  on conflict (only_row) do update set
    -- also a location that was seen empty may have been used meanwhile by another process
    in_use = excluded.in_use or (blob_place.in_use and blob_place.kind = excluded.kind and blob_place.id = excluded.id),
    recorded_at = case when blob_place.id = excluded.id then blob_place.recorded_at else now() end,
    kind = excluded.kind, id = excluded.id, shown = excluded.shown`;

/** Renews a process's use. @returns false when another location has been recorded */
export async function beat(sql: Sql | Transaction, { kind, id }: BlobLocation, processId: string): Promise<boolean> {
  const rows = await sql`
    with gone as (
      delete from blob_place_users where seen_at < now() - make_interval(secs => ${USER_SECONDS})
        and process_id <> ${processId}
    )
    insert into blob_place_users (process_id)
    select ${processId}::uuid from blob_place where kind = ${kind} and id = ${id}
    on conflict (process_id) do update set seen_at = now()
    returning 1`;
  return rows.length > 0;
}

/** Records that blobs are stored there. @returns false when another location has been recorded */
export async function noteUse(sql: Sql, { kind, id }: BlobLocation): Promise<boolean> {
  const { count } = await sql`update blob_place set in_use = true where kind = ${kind} and id = ${id}`;
  return count > 0;
}

export const deleteUser = (sql: Sql, processId: string) => sql`
  delete from blob_place_users where process_id = ${processId}`;
