/**
 * A resource is exhausted: disk, memory, connections, open files. The failed work was not done, the same request may
 * succeed later, and the process is sound.
 */
export interface Shortage {
  /** `server-disk`: of this machine. `database-disk`: of Postgres. */
  kind: "server-disk" | "database-disk" | "store-disk" | "memory" | "connections" | "files" | "read-only";
  /** Message for the caller. */
  message: string;
}

const SHORTAGES: Record<string, Shortage> = {
  ENOSPC: { kind: "server-disk", message: "The server's disk is full." },
  EDQUOT: { kind: "server-disk", message: "The server's disk quota is used up." },
  EMFILE: { kind: "files", message: "The server has too many files open." },
  ENFILE: { kind: "files", message: "The machine has too many files open." },
  // SQLSTATEs: disk_full, out_of_memory, too_many_connections, read_only_sql_transaction (a standby)
  "53100": { kind: "database-disk", message: "The database's disk is full." },
  "53200": { kind: "memory", message: "The database is out of memory." },
  "53300": { kind: "connections", message: "The database has no free connection." },
  "25006": { kind: "read-only", message: "The database is read-only at the moment." },
  // ClickHouse: NOT_ENOUGH_SPACE
  "243": { kind: "store-disk", message: "The trace store's disk is full." },
};

/** ClickHouse reports failed writes under several codes, with the system's reason in the message. */
const CLICKHOUSE_FULL = /No space left on device|Disk quota exceeded/;
const MOST_CAUSES = 5;

/** Finds a shortage that an error, or one of its causes, indicates. */
export function shortageIn(thrown: unknown): Shortage | undefined {
  let error = thrown as { code?: unknown; type?: unknown; message?: unknown; cause?: unknown } | null | undefined;
  for (let depth = 0; depth < MOST_CAUSES && typeof error === "object" && error !== null; depth++) {
    const { code, type, message } = error;
    if (typeof code === "string" && Object.hasOwn(SHORTAGES, code)) return SHORTAGES[code];
    // errors of ClickHouse's client have the name of the code as their type
    if (typeof type === "string" && typeof message === "string" && CLICKHOUSE_FULL.test(message)) {
      return SHORTAGES["243"];
    }
    error = error.cause as typeof error;
  }
  return undefined;
}
