/**
 * Finds the system users of sockets on this machine in the kernel's tables, /proc/net/tcp and tcp6 (proc_net_tcp(5)). A
 * table can only be read whole, which takes the kernel microseconds per line, so waiting callers share one read.
 *
 * A line names the user that created the socket, which no program can change. Once its program has closed it, older
 * kernels show user 0 and inode 0 instead: the owner is then unknown.
 */
import { type FileHandle, open } from "node:fs/promises";
import { isIPv4 } from "node:net";
import { endianness } from "node:os";

import ipaddr from "ipaddr.js";

/** A connection from its peer's view. Addresses in their shortest form, mapped IPv4 as IPv4. */
export interface SocketEnds {
  localAddress: string;
  localPort: number;
  remoteAddress: string;
  remotePort: number;
}

interface Search {
  ends: SocketEnds;
  resolve: (uid: number | null) => void;
  reject: (error: unknown) => void;
}

const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"] as const;
/** The kernel returns one page at a time. */
const READ_BYTES = 64 * 1024;

export class SocketOwners {
  readonly #open: (file: string) => Promise<Pick<FileHandle, "read" | "close">>;
  readonly #buffer = Buffer.alloc(READ_BYTES);
  #waiting: Search[] = [];
  #isReading = false;

  /** `openTable`: opens one of the kernel's tables. */
  constructor(openTable: (file: string) => Promise<Pick<FileHandle, "read" | "close">> = open) {
    this.#open = openTable;
  }

  /**
   * Returns the user id of the socket with these ends; null when there is no such socket, or its program has closed it.
   * Rejects when the tables cannot be read.
   */
  find(ends: SocketEnds): Promise<number | null> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ends, resolve, reject });
      if (!this.#isReading) void this.#readAll();
    });
  }

  /**
   * Reads the tables for all waiting searches. A read in progress may have passed a new connection's line, so later
   * searches wait for the next read.
   */
  async #readAll(): Promise<void> {
    this.#isReading = true;
    while (this.#waiting.length > 0) {
      const searches = this.#waiting;
      this.#waiting = [];
      try {
        await this.#answer(searches);
      } catch (error) {
        for (const { reject } of searches) reject(error);
      }
    }
    this.#isReading = false;
  }

  async #answer(searches: Search[]): Promise<void> {
    const open = new Set(searches);
    for (const table of TABLES) {
      const searches = new Map<string, Search[]>();
      for (const search of open) {
        const key = procNetKey(search.ends, table === TABLES[1]);
        if (key !== null) searches.set(key, [...(searches.get(key) ?? []), search]);
      }
      if (searches.size > 0) await this.#search(table, searches, (search) => open.delete(search));
    }
    for (const { resolve } of open) resolve(null);
  }

  /** Removes found entries from `searches`; stops reading when none is left. */
  async #search(table: string, searches: Map<string, Search[]>, onFound: (search: Search) => void): Promise<void> {
    let file: Pick<FileHandle, "read" | "close">;
    try {
      file = await this.#open(table);
    } catch (error) {
      // a kernel without IPv6 has one table
      if (table === TABLES[1] && (error as NodeJS.ErrnoException).code === "ENOENT") return;
      throw error;
    }
    try {
      for (let rest = ""; searches.size > 0;) {
        const { bytesRead } = await file.read(this.#buffer, 0, READ_BYTES, null);
        if (bytesRead === 0) return;
        rest = takeLines(rest + this.#buffer.toString("latin1", 0, bytesRead), searches, onFound);
      }
    } finally {
      await file.close();
    }
  }
}

/** Resolves the searches that lines of `text` match. Returns the incomplete last line. */
function takeLines(text: string, openSearches: Map<string, Search[]>, onFound: (search: Search) => void): string {
  let start = 0;
  for (let end = text.indexOf("\n"); end !== -1; start = end + 1, end = text.indexOf("\n", start)) {
    // "  12: 0100007F:07EA 0100007F:D2A4 01 …"
    const first = text.indexOf(": ", start) + 2;
    const key = text.slice(first, text.indexOf(" ", text.indexOf(" ", first) + 1));
    const searches = openSearches.get(key);
    if (!searches) continue;
    openSearches.delete(key);
    const [, , , , , , , uid, , inode] = text.slice(start, end).trim().split(/\s+/);
    for (const search of searches) {
      onFound(search);
      search.resolve(uid === "0" && inode === "0" ? null : Number(uid));
    }
  }
  return text.slice(start);
}

/** Returns addresses and ports as in a line; null when the table cannot contain them. */
function procNetKey({ localAddress, localPort, remoteAddress, remotePort }: SocketEnds, isV6: boolean): string | null {
  const [local, remote] = [addressText(localAddress, isV6), addressText(remoteAddress, isV6)];
  if (local === null || remote === null) return null;
  return `${local}:${portText(localPort)} ${remote}:${portText(remotePort)}`;
}

const portText = (port: number): string => port.toString(16).toUpperCase().padStart(4, "0");

const IS_LITTLE = endianness() === "LE";

/** Formats an address as the kernel does: 32-bit words in the byte order of the processor. */
function addressText(address: string, isV6: boolean): string | null {
  const isMapped = isIPv4(address);
  if (isMapped && !isV6) return wordText(addressBytes(address));
  if (!isV6) return null;
  const bytes = isMapped ? [...MAPPED, ...addressBytes(address)] : ipaddr.parse(address).toByteArray();
  return [0, 4, 8, 12].map((at) => wordText(bytes.slice(at, at + 4))).join("");
}

/** Prefix of IPv4-mapped addresses: a program may reach an IPv4 address through an IPv6 socket. */
const MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

const wordText = (bytes: number[]): string =>
  (IS_LITTLE ? bytes.toReversed() : bytes)
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("")
    .toUpperCase();

const addressBytes = (address: string): number[] => address.split(".").map(Number);
