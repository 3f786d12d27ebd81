/**
 * Who sent a request, as an address. The other end of the socket is the client, unless it is a proxy that the
 * operator trusts: then the header that this proxy writes is read from the right, past every trusted address, and
 * the first that is not trusted is the client. What stands further left was written by the client itself and is
 * never looked at. Without trusted proxies no header is.
 *
 * One header, chosen by a setting: a proxy that writes `X-Forwarded-For` passes a forged `Forwarded` on untouched.
 */
import { BlockList, isIP } from "node:net";

import { getConnInfo } from "@hono/node-server/conninfo";
import type { Context, MiddlewareHandler } from "hono";
import ipaddr from "ipaddr.js";

import { choice, ConfigError, type Options, type OptionSpec } from "../config/options.ts";

export const clientIpOptions = {
  trustedProxies: {
    env: ["HEDDLE_TRUSTED_PROXIES"],
    default: [],
    description:
      "Addresses of proxies whose header names the client: addresses and CIDR blocks with commas between, " +
      "such as 10.0.0.0/8,fd00::/8. Without it the header is ignored.",
    parse: parseBlocks,
  } satisfies OptionSpec<string[]> as OptionSpec<readonly string[]>,
  forwardedHeader: choice({
    env: ["HEDDLE_FORWARDED_HEADER"],
    default: "x-forwarded-for",
    of: ["x-forwarded-for", "forwarded"],
    description: "Header in which the trusted proxies name the client.",
  }),
};

export type ClientIpSettings = Options<typeof clientIpOptions>;

/** Sets `clientIp` for everything that follows. */
export function findClientIp({ trustedProxies, forwardedHeader }: ClientIpSettings): MiddlewareHandler {
  const isTrusted = trustedProxies.length > 0 ? trustOf(trustedProxies) : undefined;
  return async (c, next) => {
    const peer = remoteAddress(c);
    const header = isTrusted?.(peer) ? c.req.header(forwardedHeader) : undefined;
    c.set("clientIp", header === undefined ? peer : walk(peer, header, forwardedHeader, isTrusted!));
    await next();
  };
}

/** The address of whoever sent the request. Forwarded addresses count only from trusted proxies. */
export function clientIp(c: Context): string {
  const known: unknown = c.get("clientIp");
  return typeof known === "string" ? known : remoteAddress(c);
}

/** The other end of the socket; a request that came without one (a test) is from loopback. */
export function remoteAddress(c: Context): string {
  try {
    return normalizeAddress(getConnInfo(c).remote.address ?? "") ?? "127.0.0.1";
  } catch {
    return "127.0.0.1";
  }
}

/** `::ffff:192.0.2.1` is 192.0.2.1; IPv6 in its shortest form, without a zone; undefined for what is no address. */
export function normalizeAddress(text: string): string | undefined {
  const version = isIP(text);
  if (version === 4) return text;
  if (version === 0) return undefined;
  const zone = text.indexOf("%");
  return ipaddr.process(zone === -1 ? text : text.slice(0, zone)).toString();
}

/**
 * Whom an address stands for where addresses are counted: itself, or its /64 when it is IPv6, since one customer
 * gets at least that many. Takes what `clientIp` tells.
 */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  const { parts } = ipaddr.IPv6.parse(address);
  return `${parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(":")}::/64`;
}

/** The network of which one customer may hold the whole: /24 of IPv4, /48 of IPv6. Takes what `clientIp` tells. */
export function wideNetworkOf(address: string): string {
  if (!address.includes(":")) return `${address.split(".").slice(0, 3).join(".")}.0/24`;
  const { parts } = ipaddr.IPv6.parse(address);
  return `${parts
    .slice(0, 3)
    .map((part) => part.toString(16))
    .join(":")}::/48`;
}

/** Further hops than any real chain has; the rest of a header is not worth the time. */
const MAX_HOPS = 32;

function walk(peer: string, header: string, kind: string, isTrusted: (address: string) => boolean): string {
  // the whole header: a limit here would keep its left end, which the client wrote, and lose the proxy's
  const hops = header.split(",");
  let client = peer;
  for (let index = hops.length - 1, left = MAX_HOPS; index >= 0 && left > 0 && isTrusted(client); index--, left--) {
    const hop = kind === "forwarded" ? forwardedFor(hops[index]!) : hops[index]!.trim();
    const address = hop === undefined ? undefined : normalizeAddress(withoutPort(hop));
    // "unknown", an obfuscated name, rubbish: the last address that is known is as near as we get
    if (address === undefined) break;
    client = address;
  }
  return client;
}

/** RFC 7239: `for="[2001:db8::1]:4711";proto=https`. */
function forwardedFor(element: string): string | undefined {
  const found = /(?:^|;)\s*for\s*=\s*(?:"([^"]*)"|([^\s;"]*))/i.exec(element);
  return found?.[1] ?? found?.[2];
}

/** `192.0.2.1:80` and `[2001:db8::1]:80`, as some proxies write. */
function withoutPort(hop: string): string {
  if (hop.startsWith("[")) return hop.slice(1, Math.max(hop.indexOf("]"), 1));
  return /^[^:]+:\d+$/.test(hop) ? hop.slice(0, hop.indexOf(":")) : hop;
}

export function trustOf(blocks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const block of blocks) {
    const [address, bits] = block.split("/") as [string, string];
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? "ipv6" : "ipv4");
  }
  return (address) => list.check(address, address.includes(":") ? "ipv6" : "ipv4");
}

/** Returns blocks that all have their number of bits. */
function parseBlocks(text: string): string[] {
  return text
    .split(",")
    .map((block) => block.trim())
    .filter((block) => block !== "")
    .map((block) => {
      const [address = "", bits, ...rest] = block.split("/");
      const normal = normalizeAddress(address);
      const widest = normal?.includes(":") ? 128 : 32;
      const isBits = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= widest);
      if (normal === undefined || !isBits || rest.length > 0) {
        throw new ConfigError(`must be addresses or CIDR blocks with commas between; "${block}" is neither`);
      }
      return `${normal}/${bits ?? widest}`;
    });
}
