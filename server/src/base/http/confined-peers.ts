/**
 * Detects requests of confined programs on this machine: programs that run as a system user from the range in
 * `confined-users.ts`. A server without keys trusts the machine's other programs, but not these.
 *
 * The owner of the peer socket is looked up once per connection. Where it is unknown although the peer is on this
 * machine, the request counts as a confined program's: a program could send a request and close its socket before the
 * kernel is queried. Programs of the machine's users wait for their answers, so their sockets still exist.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { networkInterfaces } from "node:os";

import { type IdRange, readAccountIds, readIdRange } from "../confined-users.ts";
import type { Log } from "../log.ts";
import { normalizeAddress } from "./client-ip.ts";
import { type SocketEnds, SocketOwners } from "./socket-owners.ts";

/** Returns whether the peer of a connection is a confined program. Synchronous once that is known. */
export type PeerCheck = (socket: Socket) => boolean | Promise<boolean>;

export interface PeerCheckOptions {
  log: Log;
  owners?: SocketOwners;
  /** User ids of confined programs; null when there are none. */
  range?: IdRange | null;
}

/** Opens the check for a server; undefined where confined programs cannot be identified. */
export function openPeerCheck(options: PeerCheckOptions): PeerCheck | undefined {
  const { log, owners = new SocketOwners(), range = readIdRange() } = options;
  if (process.platform !== "linux" || range === null) return undefined;
  const known = new WeakMap<Socket, boolean | Promise<boolean>>();
  const working = tablesWork(owners, log);

  async function checkPeer(socket: Socket): Promise<boolean> {
    const ends = socketEnds(socket);
    if (!(await working)) return false;
    // the connection has ended, so its owner cannot be determined
    if (ends === undefined) return true;
    const uid = await owners.find(ends).catch((error: unknown) => {
      log.warn({ err: error }, "could not determine which local user owns a connection");
      // the connection's next request triggers another lookup
      known.delete(socket);
      return null;
    });
    if (uid === null || socket.destroyed) return isOnThisMachine(ends);
    return isConfined(uid, range!);
  }

  return (socket) => {
    const found = known.get(socket);
    if (found !== undefined) return found;
    const lookup = checkPeer(socket).then((isConfinedPeer) => {
      if (known.has(socket)) known.set(socket, isConfinedPeer);
      return isConfinedPeer;
    });
    known.set(socket, lookup);
    return lookup;
  };
}

/** Whether a user id is confined. This process's own user is not: its other processes send requests too. */
const isConfined = (uid: number, [first, last]: IdRange): boolean =>
  uid >= first && uid <= last && uid !== process.geteuid!() && !readAccountIds().has(uid);

/** Returns the connection's ends as the peer sees them. */
function socketEnds(socket: Socket): SocketEnds | undefined {
  const localAddress = normalizeAddress(socket.remoteAddress ?? "");
  const remoteAddress = normalizeAddress(socket.localAddress ?? "");
  const { remotePort: localPort, localPort: remotePort } = socket;
  if (!localAddress || !remoteAddress || localPort === undefined || remotePort === undefined) return undefined;
  return { localAddress, localPort, remoteAddress, remotePort };
}

/**
 * Whether the peer is on this machine. A socket may be bound to any local address, so loopback at either end suffices.
 */
function isOnThisMachine({ localAddress, remoteAddress }: SocketEnds): boolean {
  if ([localAddress, remoteAddress].some((address) => address === "::1" || address.startsWith("127."))) return true;
  const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  return own.some(({ address }) => normalizeAddress(address) === localAddress);
}

/**
 * Tests the lookup with a connection of this process to itself: in some sandboxes the tables lack their own sockets.
 */
async function tablesWork(owners: SocketOwners, log: Log): Promise<boolean> {
  const server = createServer();
  let client: Socket | undefined;
  try {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    client = connect((server.address() as AddressInfo).port, "127.0.0.1");
    const accepted = once(server, "connection") as Promise<[Socket]>;
    await once(client, "connect");
    const [socket] = await accepted;
    const uid = await owners.find(socketEnds(socket)!);
    socket.destroy();
    if (uid === process.geteuid!()) return true;
    log.debug("the kernel's socket tables do not list this process's own sockets");
  } catch (error) {
    log.debug({ err: error }, "cannot read the kernel's socket tables");
  } finally {
    client?.destroy();
    server.close();
  }
  log.warn(
    "Cannot determine which local user owns a connection (/proc/net/tcp), so isolated programs can call this " +
      "server like any other program of this machine. Set HEDDLE_AUTH=required unless they are trusted.",
  );
  return false;
}
