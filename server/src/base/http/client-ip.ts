/**
 * Client address of a request. The peer of the socket is the client, unless it is a proxy that the operator trusts:
 * then the header of that proxy is read from the right, past every trusted address, and the first untrusted one is the
 * client. Entries further left may be forged by the client and are never read. Without trusted proxies, no header is.
 *
 * A setting selects the one header to read: a proxy that writes `X-Forwarded-For` passes a forged `Forwarded` on
 * unchanged.
 */
import { BlockList, isIP } from "node:net";

import { getConnInfo } from "@hono/node-server/conninfo";
import type { Context, MiddlewareHandler } from "hono";
import ipaddr from "ipaddr.js";

import { choice, ConfigError, type Options, type OptionSpec, splitList } from "../config/options.ts";

export const clientIpOptions = {
  trustedProxies: {
    env: ["HEDDLE_TRUSTED_PROXIES"],
    default: [],
    description:
      "Proxies whose client address header is trusted: addresses and CIDR blocks separated by commas, such as " +
      "10.0.0.0/8,fd00::/8. When unset, the header is ignored.",
    parse: parseBlocks,
  } satisfies OptionSpec<string[]> as OptionSpec<readonly string[]>,
  forwardedHeader: choice({
    env: ["HEDDLE_FORWARDED_HEADER"],
    default: "x-forwarded-for",
    of: ["x-forwarded-for", "forwarded"],
    description: "Header in which trusted proxies send the client's address.",
  }),
};

export type ClientIpSettings = Options<typeof clientIpOptions>;

/** Sets `clientIp` and `trustedPeer` for later handlers. */
export function findClientIp({ trustedProxies, forwardedHeader }: ClientIpSettings): MiddlewareHandler {
  const isTrusted = trustedProxies.length > 0 ? matchNetworks(trustedProxies) : undefined;
  return async (c, next) => {
    const peer = remoteAddress(c);
    const isProxy = isTrusted?.(peer) === true;
    const header = isProxy ? c.req.header(forwardedHeader) : undefined;
    c.set("trustedPeer", isProxy);
    c.set("clientIp", header === undefined ? peer : walk(peer, header, forwardedHeader, isTrusted!));
    await next();
  };
}

/** Returns the client's address. Forwarded addresses count only from trusted proxies. */
export function clientIp(c: Context): string {
  const known: unknown = c.get("clientIp");
  return typeof known === "string" ? known : remoteAddress(c);
}

/** Whether the peer of the socket is a trusted proxy, whose forwarding headers count. */
export const isTrustedPeer = (c: Context): boolean => c.get("trustedPeer") === true;

/** Returns the peer of the socket; loopback for a request without a socket (a test). */
export function remoteAddress(c: Context): string {
  try {
    return normalizeAddress(getConnInfo(c).remote.address ?? "") ?? "127.0.0.1";
  } catch {
    return "127.0.0.1";
  }
}

/**
 * Normalizes an address: `::ffff:192.0.2.1` becomes 192.0.2.1, IPv6 its shortest form without a zone. Undefined when
 * invalid.
 */
export function normalizeAddress(text: string): string | undefined {
  const version = isIP(text);
  if (version === 4) return text;
  if (version === 0) return undefined;
  const zone = text.indexOf("%");
  return ipaddr.process(zone === -1 ? text : text.slice(0, zone)).toString();
}

/**
 * Returns the unit by which addresses are counted: the address itself, or the /64 of an IPv6 address, as one customer
 * gets at least that many. Takes a result of `clientIp`.
 */
export function toNetwork(address: string): string {
  if (!address.includes(":")) return address;
  const { parts } = ipaddr.IPv6.parse(address);
  return `${parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(":")}::/64`;
}

/** Returns the network that one customer may hold entirely: /24 of IPv4, /48 of IPv6. Takes a result of `clientIp`. */
export function toWideNetwork(address: string): string {
  if (!address.includes(":")) return `${address.split(".").slice(0, 3).join(".")}.0/24`;
  const { parts } = ipaddr.IPv6.parse(address);
  return `${parts
    .slice(0, 3)
    .map((part) => part.toString(16))
    .join(":")}::/48`;
}

/** More hops than any real chain has; the rest of a header is not worth the time. */
const MAX_HOPS = 32;

function walk(peer: string, header: string, kind: string, isTrusted: (address: string) => boolean): string {
  // the whole header: a limit here would keep its left end, which the client wrote, and lose the proxy's
  const hops = header.split(",");
  let client = peer;
  for (let index = hops.length - 1, left = MAX_HOPS; index >= 0 && left > 0 && isTrusted(client); index--, left--) {
    const hop = kind === "forwarded" ? forwardedFor(hops[index]!) : hops[index]!.trim();
    const address = hop === undefined ? undefined : normalizeAddress(withoutPort(hop));
    // "unknown", an obfuscated name, garbage: fall back to the last known address
    if (address === undefined) break;
    client = address;
  }
  return client;
}

/** Parses RFC 7239: `for="[2001:db8::1]:4711";proto=https`. */
function forwardedFor(element: string): string | undefined {
  const found = /(?:^|;)\s*for\s*=\s*(?:"([^"]*)"|([^\s;"]*))/i.exec(element);
  return found?.[1] ?? found?.[2];
}

/** Strips the port of `192.0.2.1:80` and `[2001:db8::1]:80`, as some proxies write. */
function withoutPort(hop: string): string {
  if (hop.startsWith("[")) return hop.slice(1, Math.max(hop.indexOf("]"), 1));
  return /^[^:]+:\d+$/.test(hop) ? hop.slice(0, hop.indexOf(":")) : hop;
}

export function matchNetworks(blocks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const block of blocks) {
    const [address, bits] = block.split("/") as [string, string];
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? "ipv6" : "ipv4");
  }
  return (address) => list.check(address, address.includes(":") ? "ipv6" : "ipv4");
}

/** Parses CIDR blocks; a plain address gets its full prefix length. */
function parseBlocks(text: string): string[] {
  return splitList(text).map((block) => {
    const [address = "", bits, ...rest] = block.split("/");
    const normal = normalizeAddress(address);
    const widest = normal?.includes(":") ? 128 : 32;
    const isBits = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= widest);
    if (normal === undefined || !isBits || rest.length > 0) {
      throw new ConfigError(`must be addresses or CIDR blocks separated by commas; "${block}" is neither`);
    }
    return `${normal}/${bits ?? widest}`;
  });
}
