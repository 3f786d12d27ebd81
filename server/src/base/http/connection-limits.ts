/**
 * Limits per client, slow or hostile: Node.js's own timeouts for requests that never end, and bounds on connections in
 * total and per address, so that a client that opens thousands and sends nothing leaves room for others. Idle
 * connections are closed when all slots are taken.
 */
import type { Server, ServerOptions } from "node:http";
import type { Server as NetServer, Socket } from "node:net";

import { integer, type Options } from "../config/options.ts";
import { type ClientIpSettings, toNetwork, normalizeAddress, matchNetworks } from "./client-ip.ts";

export const connectionOptions = {
  headersTimeoutSecs: integer({
    env: ["HEDDLE_HTTP_HEADERS_TIMEOUT_SECS"],
    default: 20,
    min: 1,
    max: 600,
    description:
      "Seconds within which a request's headers must arrive; later ones get 408 and the connection is closed.",
  }),
  requestTimeoutSecs: integer({
    env: ["HEDDLE_HTTP_REQUEST_TIMEOUT_SECS"],
    default: 300,
    min: 1,
    max: 86_400,
    description: "Seconds within which a request must arrive with its body; the response may take longer.",
  }),
  maxHeaderBytes: integer({
    env: ["HEDDLE_HTTP_MAX_HEADER_BYTES"],
    default: 16_384,
    min: 2048,
    max: 1_048_576,
    description: "Maximum total size of a request line and its headers; larger requests get 431.",
  }),
  maxConnections: integer({
    env: ["HEDDLE_HTTP_MAX_CONNECTIONS"],
    default: 10_000,
    min: 10,
    description: "Maximum number of open connections; beyond it idle ones are closed and new ones rejected.",
  }),
  maxConnectionsPerAddress: integer({
    env: ["HEDDLE_HTTP_MAX_CONNECTIONS_PER_ADDRESS"],
    default: 1000,
    min: 1,
    description:
      "Maximum number of open connections from one address (IPv6: one /64). Loopback and trusted proxies may have " +
      "more.",
  }),
  maxUnknownConnections: integer({
    env: ["HEDDLE_HTTP_MAX_UNKNOWN_CONNECTIONS"],
    default: 500,
    min: 10,
    description:
      "Maximum number of connections on which no request has been authenticated for a second; beyond it the " +
      "oldest idle or half-sent ones are closed. Bursts of four times as many are allowed.",
  }),
  maxUnreadMb: integer({
    env: ["HEDDLE_HTTP_MAX_UNREAD_MB"],
    default: 256,
    min: 1,
    description:
      "Memory, in MiB, for responses, streams and WebSocket messages that slow readers have not taken yet; " +
      "beyond it the connections with the most unread data are closed.",
  }),
};

export type ConnectionSettings = Options<typeof connectionOptions>;

const CHECK_EVERY_MS = 2_000;

export function serverOptions(settings: ConnectionSettings): ServerOptions {
  const headersTimeout = settings.headersTimeoutSecs * 1000;
  const requestTimeout = settings.requestTimeoutSecs * 1000;
  return {
    headersTimeout: Math.min(headersTimeout, requestTimeout),
    requestTimeout,
    // delay with which an exceeded timeout may be noticed
    connectionsCheckingInterval: Math.min(CHECK_EVERY_MS, headersTimeout / 4),
    keepAliveTimeout: 75_000,
    maxHeaderSize: settings.maxHeaderBytes,
  };
}

/**
 * Counts connections by address and closes those beyond the limit, except those from addresses that may speak for many
 * clients, such as proxies.
 */
export function limitConnections(
  server: NetServer | Server,
  settings: Pick<ConnectionSettings, "maxConnections" | "maxConnectionsPerAddress">,
  speaksForMany: (address: string) => boolean,
): void {
  const counts = new Map<string, number>();
  const counted = new WeakSet<Socket>();
  // Node.js closes connections beyond this silently
  server.maxConnections = settings.maxConnections;
  server.on("drop", () => "closeIdleConnections" in server && server.closeIdleConnections());
  server.on("connection", (socket: Socket) => {
    // a connection that was detached for an upgrade and returned to the server
    if (counted.has(socket)) return;
    const address = normalizeAddress(socket.remoteAddress ?? "");
    if (address === undefined || speaksForMany(address)) return;
    const network = toNetwork(address);
    const count = (counts.get(network) ?? 0) + 1;
    if (count > settings.maxConnectionsPerAddress) return void socket.destroy();
    counts.set(network, count);
    counted.add(socket);
    socket.once("close", () => {
      const left = (counts.get(network) ?? 1) - 1;
      if (left === 0) counts.delete(network);
      else counts.set(network, left);
    });
  });
}

/** Matches trusted proxies, and loopback, where unconfigured proxies may run. */
export function proxies({ trustedProxies }: Pick<ClientIpSettings, "trustedProxies">): (address: string) => boolean {
  const isTrusted = matchNetworks(trustedProxies);
  return (address) => address === "::1" || address.startsWith("127.") || isTrusted(address);
}
