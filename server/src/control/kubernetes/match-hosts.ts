import { isIP } from "node:net";

import { matchNetworks } from "../../base/http/client-ip.ts";

/**
 * Returns a function that checks whether a host is in a list of networks (`10.0.0.0/8`), addresses, names
 * (`agents.example`) and domains (`*.agents.example`). Names are compared as written and not resolved.
 */
export function matchHosts(allowed: readonly string[]): (host: string) => boolean {
  const isNetwork = (entry: string) => isIP(entry.split("/")[0]!) !== 0;
  const full = (address: string) => `${address}/${isIP(address) === 6 ? 128 : 32}`;
  const networks = allowed.filter(isNetwork).map((entry) => (entry.includes("/") ? entry : full(entry)));
  const inNetworks = matchNetworks(networks);
  const names = allowed.filter((entry) => !isNetwork(entry)).map((entry) => entry.toLowerCase());
  return (host) => {
    if (isIP(host) !== 0) return inNetworks(host);
    const name = host.toLowerCase();
    return names.some((entry) => (entry.startsWith("*.") ? name.endsWith(entry.slice(1)) : name === entry));
  };
}
