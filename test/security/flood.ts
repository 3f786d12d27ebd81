/** Generates a bounded load of raw connections, and measures the memory of the process that listens at their port. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const MIB = 1024 * 1024;

/** Returns the pid of the process that listens at `port` of loopback. */
export function findListener(port: number): number {
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  const lines = ["tcp", "tcp6"].flatMap((kind) => readFileSync(`/proc/net/${kind}`, "utf8").split("\n"));
  const LISTENS = "0A";
  const fields = lines.map((line) => line.trim().split(/\s+/));
  const inode = fields.find((line) => line[1]?.endsWith(`:${hex}`) && line[3] === LISTENS)?.[9];
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    // of another user's process, or of one that is gone
    const fds = orElse([], () => readdirSync(`/proc/${pid}/fd`));
    // one that was closed meanwhile does not end the search
    const holds = (fd: string) => orElse("", () => readlinkSync(`/proc/${pid}/fd/${fd}`)) === `socket:[${inode}]`;
    if (fds.some(holds)) return Number(pid);
  }
  throw new Error(`no process listens at ${port}`);
}

function orElse<T>(fallback: T, read: () => T): T {
  try {
    return read();
  } catch {
    return fallback;
  }
}

/** Resident memory in MiB. */
export function residentMib(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kib) / 1024;
}

/** Connections of one attack; `end` closes them all. */
export class Flood {
  readonly port: number;
  readonly sockets = new Set<Socket>();
  /** Status lines of the responses read. */
  readonly answers: string[] = [];
  /** Number of connections that the server has closed. */
  closed = 0;

  constructor(port: number) {
    this.port = port;
  }

  /** Opens a connection and sends `text`. `reads`: false leaves the responses unread in the socket. */
  open(text: string | Buffer, reads = true): Socket {
    const socket = connect(this.port, "127.0.0.1").setMaxListeners(0);
    this.sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => {
      this.sockets.delete(socket);
      this.closed += 1;
    });
    if (reads) socket.on("data", (data) => this.answers.push(data.toString("latin1").split("\r\n", 1)[0]!));
    else socket.pause();
    socket.write(text);
    return socket;
  }

  /** Sends `mib` of a body over each of `count` connections that begin with `head`, as far as the server reads them. */
  async bodies(head: string, count: number, mib: number): Promise<void> {
    const isChunked = /^transfer-encoding/im.test(head);
    const filling = Buffer.alloc(MIB, "x");
    const piece = isChunked ? Buffer.concat([Buffer.from("100000\r\n"), filling, Buffer.from("\r\n")]) : filling;
    const send = async () => {
      const socket = this.open(head);
      for (let sent = 0; sent < mib && !socket.destroyed; sent++) {
        if (socket.write(piece)) continue;
        await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), sleep(1000)]);
      }
    };
    await Promise.all(Array.from({ length: count }, send));
  }

  /** Waits until some requests were answered or rejected, even on a busy machine, and a moment longer. */
  async heard(): Promise<void> {
    const isEarly = () => this.answers.length + this.closed < 10;
    for (let waited = 0; isEarly() && waited < 20_000; waited += 50) await sleep(50);
    await sleep(500);
  }

  async end(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await sleep(50);
  }
}

/**
 * Returns the status of one request on a separate connection. The server may first close kept-alive ones to make room.
 */
export async function ask(port: number, head: string): Promise<number> {
  const flood = new Flood(port);
  flood.open(`${head}\r\n\r\n`);
  for (let waited = 0; flood.answers.length === 0 && waited < 30_000; waited += 20) await sleep(20);
  await flood.end();
  return Number(flood.answers[0]?.split(" ")[1]);
}

/** A process, and its resident memory before any attack. */
export interface Warm {
  pid: number;
  mib: number;
}

/** Returns the peak memory in MiB while `attack` runs, above the process's memory before it. */
export async function growthDuring(pid: number, attack: () => Promise<void>): Promise<number> {
  const mib = residentMib(pid);
  let peak = mib;
  const timer = setInterval(() => (peak = Math.max(peak, residentMib(pid))), 20);
  try {
    await attack();
  } finally {
    clearInterval(timer);
  }
  return Math.round(Math.max(peak, residentMib(pid)) - mib);
}
