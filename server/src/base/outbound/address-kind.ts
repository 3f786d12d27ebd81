import ipaddr from "ipaddr.js";

export type AddressKind =
  | "public"
  | "loopback"
  | "private"
  /** Link-local, where clouds also serve their metadata. */
  | "link-local"
  /** Services where a cloud hands out credentials without authentication. */
  | "metadata"
  /** Multicast, broadcast, unspecified, reserved, tunnels: never a valid target. */
  | "special";

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * Metadata and credential services of AWS (including its containers), Azure, Google (the first), Alibaba, Oracle. Some
 * lie in ranges that look private or even public.
 */
const METADATA = new Set([
  "169.254.169.254",
  "169.254.170.2",
  "169.254.170.23",
  "168.63.129.16",
  "100.100.100.200",
  "192.0.0.192",
  "fd00:ec2::254",
  "fd00:ec2::23",
  "fd20:ce::254",
]);

/** Global unicast (RFC 4291 §2.4): the only allocated range of IPv6. The rest is special, whatever it is called. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");
/** Well-known prefix of NAT64 (RFC 6052), through which a network without IPv4 reaches IPv4 hosts. */
const NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");

/**
 * Parses an address in the plain notation of resolvers; null when invalid. An embedded IPv4 address (::ffff:0:0/96,
 * NAT64) is returned as such, because packets arrive there. Scopes (%eth0) are dropped.
 */
export function parseAddress(text: string): Address | null {
  const unwrapped = text.replace(/^\[|\]$/g, "").replace(/%.*$/, "");
  if (ipaddr.IPv4.isValidFourPartDecimal(unwrapped)) return ipaddr.IPv4.parse(unwrapped);
  if (!ipaddr.IPv6.isValid(unwrapped)) return null;
  const address = ipaddr.IPv6.parse(unwrapped);
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  if (address.match(NAT64)) return new ipaddr.IPv4(address.toByteArray().slice(12));
  return address;
}

export function addressKind(address: Address): AddressKind {
  if (METADATA.has(address.toString())) return "metadata";
  switch (address.range()) {
    case "unicast":
      return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST) ? "public" : "special";
    case "loopback":
      return "loopback";
    case "private":
    case "carrierGradeNat":
    case "uniqueLocal":
      return "private";
    case "linkLocal":
      return "link-local";
    default:
      return "special";
  }
}
