import ipaddr from "ipaddr.js";

import { ConfigError } from "../config/options.ts";
import { type Address, addressKind, parseAddress } from "./address-kind.ts";

/** One entry of HEDDLE_OUTBOUND_ALLOW; `port` null matches any. */
type Allowed =
  | { kind: "name"; name: string; port: number | null }
  /** Subdomains of a domain, not the domain itself. */
  | { kind: "domain"; suffix: string; port: number | null }
  | { kind: "network"; network: Address; bits: number; port: number | null };

/**
 * Rules for outbound targets. Public addresses are always permitted; loopback on any port for a developer's server
 * (`openLoopback`: on loopback, without keys); otherwise only targets allowed by name or network:
 *
 * - A name permits its private and loopback addresses. Its DNS may be under foreign control, so it never permits
 *   link-local, metadata and special addresses.
 * - A network permits the addresses in it, under any name, except for metadata services, which need an entry with
 *   their own address.
 */
export interface OutboundPolicy {
  allowed: Allowed[];
  openLoopback: boolean;
}

/** Parses the setting. Throws ConfigError that names an invalid entry. */
export function readPolicy(allow: string, openLoopback: boolean): OutboundPolicy {
  const entries = allow
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .map(readEntry);
  return { allowed: entries, openLoopback };
}

/**
 * Compares a deployment's allowances with those of its platform, which it may narrow and not exceed.
 * @returns the entries that an entry of the platform covers, and the others
 * @throws ConfigError for an invalid entry
 */
export function narrowAllowances(platforms: string, wanted: string): { kept: string[]; rejected: string[] } {
  const outer = readPolicy(platforms, false).allowed;
  const entries = wanted.split(/[\s,]+/).filter((entry) => entry !== "");
  const isKept = (entry: string) => {
    const inner = readEntry(entry);
    return outer.some((each) => covers(each, inner));
  };
  return { kept: entries.filter(isKept), rejected: entries.filter((entry) => !isKept(entry)) };
}

/** Whether everything that `inner` permits is permitted by `outer`. */
function covers(outer: Allowed, inner: Allowed): boolean {
  if (outer.port !== null && outer.port !== inner.port) return false;
  switch (outer.kind) {
    case "name":
      return inner.kind === "name" && inner.name === outer.name;
    case "domain":
      return inner.kind === "domain"
        ? inner.suffix.endsWith(outer.suffix)
        : inner.kind === "name" && inner.name.endsWith(outer.suffix);
    case "network": {
      if (inner.kind !== "network" || inner.bits < outer.bits) return false;
      // a network permits a metadata service only if it begins with its address
      const isMetadata = addressKind(inner.network) === "metadata";
      if (isMetadata && inner.network.toString() !== outer.network.toString()) return false;
      return matches(inner.network, outer.network, outer.bits);
    }
  }
}

const NAME = /^(?!-)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/;

function readEntry(entry: string): Allowed {
  const bad = (why: string) => new ConfigError(`HEDDLE_OUTBOUND_ALLOW: "${entry}" ${why}`);
  const network = parseAddress(entry) ? entry : entry.includes("/") ? entry : null;
  if (network) return { ...readNetwork(network, bad), port: null };
  const [, host, portText] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(entry) ?? [];
  const port = portText === undefined ? null : Number(portText);
  if (host === undefined || host === "" || (port !== null && (port < 1 || port > 65_535))) {
    throw bad("is not a host, host:port, *.domain, address, [address]:port or network/bits");
  }
  if (parseAddress(host)) return { ...readNetwork(host.replace(/^\[|\]$/g, ""), bad), port };
  const name = canonicalName(host);
  if (name.startsWith("*.") && NAME.test(name.slice(2))) return { kind: "domain", suffix: name.slice(1), port };
  // a name that ends in a number is an unusual notation of an address, or invalid
  if (!NAME.test(name) || /(^|\.)(\d+|0x[0-9a-f]*)$/.test(name)) throw bad("is neither a host name nor an address");
  return { kind: "name", name, port };
}

function readNetwork(text: string, bad: (why: string) => Error): { kind: "network"; network: Address; bits: number } {
  const [base = "", bitsText] = text.split("/");
  const network = parseAddress(base);
  if (!network) throw bad("is not a network");
  const most = network.kind() === "ipv4" ? 32 : 128;
  const bits = bitsText === undefined ? most : /^\d+$/.test(bitsText) ? Number(bitsText) : -1;
  if (bits < 0 || bits > most) throw bad(`needs a prefix length from 0 to ${most}`);
  return { kind: "network", network, bits };
}

/** Normalizes a name for comparison: lower case, without the trailing dot of the root. */
export const canonicalName = (host: string): string => host.toLowerCase().replace(/\.$/, "");

export type Verdict = { allowed: true } | { allowed: false; because: string };

const OK: Verdict = { allowed: true };
const WHAT = {
  loopback: "a loopback address",
  private: "a private address",
  "link-local": "a link-local address",
  metadata: "a metadata service",
  special: "a reserved address",
} as const;

/** Judges a connection to this address, which was resolved from `host` or is the literal host of the URL. */
export function judgeAddress(policy: OutboundPolicy, address: string, host: string, port: number): Verdict {
  const parsed = parseAddress(address);
  if (!parsed) return { allowed: false, because: "an invalid address" };
  const kind = addressKind(parsed);
  if (kind === "public") return OK;
  if (kind === "loopback" && policy.openLoopback) return OK;
  const name = canonicalName(host);
  const byName = kind === "loopback" || kind === "private";
  const opened = policy.allowed.some((entry) => {
    if (entry.port !== null && entry.port !== port) return false;
    if (entry.kind === "name") return byName && entry.name === name;
    if (entry.kind === "domain") return byName && name.endsWith(entry.suffix);
    if (kind === "metadata" && entry.network.toString() !== parsed.toString()) return false;
    return matches(parsed, entry.network, entry.bits);
  });
  return opened ? OK : { allowed: false, because: WHAT[kind] };
}

/** Whether an entry names this port of the host, a name or a literal address. */
export function namesPort(policy: OutboundPolicy, host: string, port: number): boolean {
  const name = canonicalName(host);
  const address = parseAddress(host.replace(/^\[|\]$/g, ""));
  return policy.allowed.some((entry) => {
    if (entry.port !== port) return false;
    if (entry.kind === "name") return entry.name === name;
    if (entry.kind === "domain") return name.endsWith(entry.suffix);
    return address !== null && matches(address, entry.network, entry.bits);
  });
}

function matches(address: Address, network: Address, bits: number): boolean {
  if (address instanceof ipaddr.IPv4 && network instanceof ipaddr.IPv4) return address.match(network, bits);
  if (address instanceof ipaddr.IPv6 && network instanceof ipaddr.IPv6) return address.match(network, bits);
  return false;
}
