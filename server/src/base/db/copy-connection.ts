import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import postgres from "postgres";

import { watchedSocket } from "../../../../host-kit/src/watched-socket.ts";
import type { DatabaseAddress, Sql } from "./connect.ts";

/**
 * One connection for COPY in both directions, and for the transaction around it, which is begun and ended by
 * statements.
 *
 * postgres.js pauses the socket while a reader of COPY is slower than the database, and leaves it paused when the last
 * row was in the buffer at the end: all later statements would wait forever. The socket is therefore resumed here.
 */
export class CopyConnection {
  readonly sql: Sql;
  #socket: Socket | undefined;

  /** `role`: the role that the session acts as. */
  constructor(database: DatabaseAddress, options: { name: string; database?: string; role?: string }) {
    const watched = watchedSocket(database.uri, 0, undefined, {
      // a scan that starts in the middle of a table would change the order of the rows
      synchronize_seqscans: "off",
      statement_timeout: 0,
      idle_in_transaction_session_timeout: 0,
      ...(options.role !== undefined && { role: options.role }),
    });
    const own = {
      ...watched,
      socket: async (server: Parameters<typeof watched.socket>[0]) => (this.#socket = await watched.socket(server)),
    };
    this.sql = postgres(database.uri, {
      ...own,
      ...(database.socket && { host: database.socket }),
      ...(options.database !== undefined && { database: options.database }),
      max: 1,
      onnotice: () => {},
      fetch_types: false,
      idle_timeout: 0,
      max_lifetime: null,
      connect_timeout: 10,
      connection: {
        application_name: options.name,
        TimeZone: "UTC",
      },
    } as postgres.Options<Record<string, never>>) as unknown as Sql;
  }

  /** Yields the output of `copy … to stdout`. Read it to its end, or close the connection. */
  async *copyOut(statement: string): AsyncGenerator<Buffer> {
    const stream: Readable = await this.sql.unsafe(statement).readable();
    for await (const chunk of stream) yield chunk as Buffer;
    this.#socket?.resume();
  }

  /**
   * Resolves when the database has stored the content. postgres.js does not report an error that comes after the last
   * row, so the next statement is sent at that moment: it fails when the COPY did.
   */
  async copyIn(statement: string, content: AsyncIterable<Buffer>): Promise<void> {
    const stream = await this.sql.unsafe(statement).writable();
    const stored = new Promise<void>((resolve, reject) => {
      stream.once("prefinish", () => void this.sql`select 1`.then(() => resolve(), reject));
    });
    stored.catch(() => {});
    await Promise.race([pipeline(content, stream), stored]);
    await stored;
  }

  /** Process id of the session, by which a replaced connection is noticed. */
  async session(): Promise<number> {
    const [row] = await this.sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
    return row!.pid;
  }

  close(): Promise<void> {
    return this.sql.end({ timeout: 1 });
  }
}
