/** Programs of real system users as peers of real connections. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { networkInterfaces } from "node:os";

import { pino } from "pino";
import { afterEach, expect, test } from "vitest";

import { readAccountIds, readIdRange } from "../confined-users.ts";
import { openPeerCheck } from "./confined-peers.ts";
import { SocketOwners } from "./socket-owners.ts";

const isLinux = process.platform === "linux";
const range = isLinux ? readIdRange() : null;
/** Only root can start programs of other users. */
const hasUsers = range !== null && process.getuid?.() === 0;
const [CONFINED = 0] = range ?? [];

const lines: string[] = [];
const log = pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });
const servers: Server[] = [];
const sockets: Socket[] = [];
const children: ChildProcess[] = [];

afterEach(async () => {
  lines.length = 0;
  for (const child of children.splice(0)) child.kill("SIGKILL");
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) {
    server.close();
    await once(server, "close");
  }
});

/** Starts a server that keeps its connections. */
async function listen(host = "127.0.0.1"): Promise<{ port: number; accepted: () => Promise<Socket> }> {
  const server = createServer();
  const waiting: Socket[] = [];
  server.on("connection", (socket) => {
    socket.on("error", () => {});
    sockets.push(socket);
    waiting.push(socket);
    server.emit("kept");
  });
  servers.push(server);
  server.listen(0, host);
  await once(server, "listening");
  const accepted = async () => {
    if (waiting.length === 0) await once(server, "kept");
    return waiting.shift()!;
  };
  return { port: (server.address() as AddressInfo).port, accepted };
}

async function dial(port: number, host = "127.0.0.1", localAddress?: string): Promise<Socket> {
  const socket = connect({ port, host, ...(localAddress && { localAddress }) });
  socket.on("error", () => {});
  sockets.push(socket);
  await once(socket, "connect");
  return socket;
}

/** Starts a program of a system user that connects, runs `then` and keeps running. */
function startAs(uid: number, port: number, then: string, host = "127.0.0.1"): void {
  const script = `const socket = require("net").connect(${port}, "${host}", () => { ${then} }); setTimeout(() => {}, 60_000);`;
  children.push(spawn(process.execPath, ["-e", script], { uid, gid: uid, cwd: "/", stdio: "ignore" }));
}

/** Counts reads of the tables. */
function countingOwners(): { owners: SocketOwners; opened: string[] } {
  const opened: string[] = [];
  const owners = new SocketOwners((file) => {
    opened.push(file);
    return open(file);
  });
  return { owners, opened };
}

const socketEnds = ({ remoteAddress, remotePort, localAddress, localPort }: Socket) => ({
  localAddress: remoteAddress!.replace("::ffff:", ""),
  localPort: remotePort!,
  remoteAddress: localAddress!.replace("::ffff:", ""),
  remotePort: localPort!,
});

test.skipIf(!isLinux)("finds the user of a connection by IPv4, by IPv6 and by mapped addresses", async () => {
  const owners = new SocketOwners();
  for (const [host, target] of [
    ["127.0.0.1", "127.0.0.1"],
    ["::1", "::1"],
    ["::", "127.0.0.1"],
    ["::", "::ffff:127.0.0.1"],
    ["127.0.0.1", "::ffff:127.0.0.1"],
  ] as const) {
    const { port, accepted } = await listen(host);
    await dial(port, target);
    expect([host, target, await owners.find(socketEnds(await accepted()))]).toEqual([host, target, process.geteuid!()]);
  }
});

test.skipIf(!isLinux)("finds no user for a closed connection", async () => {
  const owners = new SocketOwners();
  const { port, accepted } = await listen();
  const socket = await dial(port);
  const ends = socketEnds(await accepted());
  socket.resetAndDestroy();
  await once(socket, "close");
  expect(await owners.find(ends)).toBeNull();
});

test.skipIf(!isLinux)("answers waiting lookups with one read, and later ones with the next", async () => {
  const { owners, opened } = countingOwners();
  const { port, accepted } = await listen();
  const found = [];
  for (let each = 0; each < 50; each++) {
    await dial(port);
    found.push(socketEnds(await accepted()));
  }
  const uids = await Promise.all(found.map((ends) => owners.find(ends)));
  expect(new Set(uids)).toEqual(new Set([process.geteuid!()]));
  expect(opened).toEqual(["/proc/net/tcp", "/proc/net/tcp"]);
});

test.skipIf(range === null)("looks up a connection once, and does not confine a program of this user", async () => {
  const { owners, opened } = countingOwners();
  const check = openPeerCheck({ log, owners })!;
  const { port, accepted } = await listen();
  await dial(port);
  const socket = await accepted();
  expect(await check(socket)).toBe(false);
  const before = opened.length;
  // cached, so the result is no promise
  expect(check(socket)).toBe(false);
  expect(opened).toHaveLength(before);
});

test.skipIf(!hasUsers)(
  "confines a program whose user is in the confined range, whatever address it comes from",
  async () => {
    const check = openPeerCheck({ log })!;
    const { port, accepted } = await listen("0.0.0.0");
    const addresses = Object.values(networkInterfaces())
      .flatMap((all) => all ?? [])
      .filter(({ family }) => family === "IPv4")
      .map(({ address }) => address);
    for (const address of ["127.0.0.1", "127.1.2.3", ...addresses]) {
      startAs(CONFINED, port, "", address);
      expect([address, await check(await accepted())]).toEqual([address, true]);
    }
    startAs(1000, port, "");
    expect(await check(await accepted())).toBe(false);
    await dial(port);
    expect(await check(await accepted())).toBe(false);
  },
);

test.skipIf(!hasUsers)("treats a request whose sender is gone as from a confined program", async () => {
  const check = openPeerCheck({ log })!;
  for (const end of ['socket.end("x", () => socket.destroy())', 'socket.write("x", () => socket.resetAndDestroy())']) {
    const { port, accepted } = await listen();
    startAs(CONFINED, port, end);
    const socket = await accepted();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect([end, await check(socket)]).toEqual([end, true]);
  }
});

test.skipIf(!hasUsers)("does not confine an account of the machine with an id in the range", async () => {
  const account = [...readAccountIds()].find((id) => id > 0 && id < 1000)!;
  const check = openPeerCheck({ log, range: [1, 2000] })!;
  const { port, accepted } = await listen();
  startAs(account, port, "");
  expect(await check(await accepted())).toBe(false);
  startAs(1999, port, "");
  expect(await check(await accepted())).toBe(true);
});

test.skipIf(range === null)(
  "trusts all programs and logs a warning where the socket tables show no sockets",
  async () => {
    const owners = new SocketOwners(() => open("/dev/null"));
    const check = openPeerCheck({ log, owners })!;
    const { port, accepted } = await listen();
    await dial(port);
    expect(await check(await accepted())).toBe(false);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("/proc/net/tcp");
  },
);

test.skipIf(range === null)("does not trust an unknown program when a read of working tables fails", async () => {
  let isShort = false;
  const owners = new SocketOwners((file) =>
    isShort ? Promise.reject(Object.assign(new Error("too many open files"), { code: "EMFILE" })) : open(file),
  );
  const check = openPeerCheck({ log, owners })!;
  const { port, accepted } = await listen();
  await dial(port);
  expect(await check(await accepted())).toBe(false);
  isShort = true;
  await dial(port);
  expect(await check(await accepted())).toBe(true);
});
