/**
 * Tells whether a request comes from a confined program of this machine: one whose system user is taken from the range
 * that `confined-users.ts` names. A server that asks for no key trusts the machine's programs, but not those.
 *
 * The owner of the other end is looked up once a connection. Where it is unknown although the other end is on this
 * machine, the request counts as a confined program's: a program could send a request and close its socket before the
 * kernel is asked. Programs of the machine's users wait for their answers, and their sockets are there.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { networkInterfaces } from "node:os";

import { type IdRange, readAccountIds, readIdRange } from "../confined-users.ts";
import type { Log } from "../log.ts";
import { normalizeAddress } from "./client-ip.ts";
import { type Ends, SocketOwners } from "./socket-owners.ts";

/** Returns whether the other end of a connection is a confined program's. At once where that is known already. */
export type PeerCheck = (socket: Socket) => boolean | Promise<boolean>;

export interface PeerCheckOptions {
  log: Log;
  owners?: SocketOwners;
  /** Ids of confined programs' users; null where there can be none. */
  range?: IdRange | null;
}

/** Opens the check of a server; undefined where no confined program can be told from others. */
export function openPeerCheck(options: PeerCheckOptions): PeerCheck | undefined {
  const { log, owners = new SocketOwners(), range = readIdRange() } = options;
  if (process.platform !== "linux" || range === null) return undefined;
  const known = new WeakMap<Socket, boolean | Promise<boolean>>();
  const working = tablesWork(owners, log);

  async function look(socket: Socket): Promise<boolean> {
    const ends = endsOf(socket);
    if (!(await working)) return false;
    // it has ended: there is no telling whose it was
    if (ends === undefined) return true;
    const uid = await owners.find(ends).catch((error: unknown) => {
      log.warn({ err: error }, "the user of a connection could not be found");
      // the connection's next request is judged anew
      known.delete(socket);
      return null;
    });
    if (uid === null || socket.destroyed) return isOnThisMachine(ends);
    return isConfined(uid, range!);
  }

  return (socket) => {
    const found = known.get(socket);
    if (found !== undefined) return found;
    const looking = look(socket).then((isConfinedPeer) => {
      if (known.has(socket)) known.set(socket, isConfinedPeer);
      return isConfinedPeer;
    });
    known.set(socket, looking);
    return looking;
  };
}

/** A program's own requests to itself are those of its other processes too. */
const isConfined = (uid: number, [first, last]: IdRange): boolean =>
  uid >= first && uid <= last && uid !== process.geteuid!() && !readAccountIds().has(uid);

/** The other end's view of a connection. */
function endsOf(socket: Socket): Ends | undefined {
  const localAddress = normalizeAddress(socket.remoteAddress ?? "");
  const remoteAddress = normalizeAddress(socket.localAddress ?? "");
  const { remotePort: localPort, localPort: remotePort } = socket;
  if (!localAddress || !remoteAddress || localPort === undefined || remotePort === undefined) return undefined;
  return { localAddress, localPort, remoteAddress, remotePort };
}

/** A socket may be bound to any address of the machine, so a loopback address of either end is enough. */
function isOnThisMachine({ localAddress, remoteAddress }: Ends): boolean {
  if ([localAddress, remoteAddress].some((address) => address === "::1" || address.startsWith("127."))) return true;
  const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  return own.some(({ address }) => normalizeAddress(address) === localAddress);
}

/** Looks up a connection of this process to itself: some sandboxes show tables that lack their own sockets. */
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
    const uid = await owners.find(endsOf(socket)!);
    socket.destroy();
    if (uid === process.geteuid!()) return true;
    log.debug("the kernel's tables of sockets do not show this process's own");
  } catch (error) {
    log.debug({ err: error }, "the kernel's tables of sockets cannot be read");
  } finally {
    client?.destroy();
    server.close();
  }
  log.warn(
    "The users of connections cannot be found here (/proc/net/tcp), so isolated programs may use this server like all " +
      "others of the machine. Set HEDDLE_AUTH=required where they are not trusted.",
  );
  return false;
}
