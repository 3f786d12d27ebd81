import ipaddr from "ipaddr.js";

export type AddressKind =
  | "public"
  | "loopback"
  | "private"
  /** Link-local, where clouds also keep their metadata. */
  | "link-local"
  /** Where a cloud hands out credentials to whoever asks. */
  | "metadata"
  /** Multicast, broadcast, unspecified, reserved, tunnels: nobody's to call. */
  | "special";

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * Metadata and credential services of AWS (also of its containers), Azure, Google (the first), Alibaba, Oracle.
 * Some of them lie in ranges that look private or even public.
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

/** Global unicast (RFC 4291 §2.4): all of IPv6 that is handed out. The rest is special, whatever it is called. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");
/** Well-known prefix of NAT64 (RFC 6052): a network without IPv4 reaches it through this. */
const NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");

/**
 * An address in the plain notation, as resolvers give it; null when it is none. What hides an IPv4 address
 * (::ffff:0:0/96, NAT64) is that address, for that is where packets arrive. Scopes (%eth0) are dropped.
 */
export function parseAddress(text: string): Address | null {
  const bare = text.replace(/^\[|\]$/g, "").replace(/%.*$/, "");
  if (ipaddr.IPv4.isValidFourPartDecimal(bare)) return ipaddr.IPv4.parse(bare);
  if (!ipaddr.IPv6.isValid(bare)) return null;
  const address = ipaddr.IPv6.parse(bare);
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
