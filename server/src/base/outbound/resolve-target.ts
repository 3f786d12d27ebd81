import { lookup as systemLookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";

import { ConcurrencyLimit } from "../concurrency-limit.ts";
import { blocked, refuseAddress } from "./check-url.ts";
import { OutboundError } from "./outbound-error.ts";
import { judgeAddress, type OutboundPolicy } from "./policy.ts";

export interface ResolvedAddress {
  address: string;
  family: number;
}

/** Asks for a name's addresses. Passed in, so that tests can be the evil name server. */
export type Resolve = (host: string) => Promise<ResolvedAddress[]>;

/**
 * The system's resolver, which knows /etc/hosts and a cluster's search domains. It works in the thread pool of
 * four that files share: two names at a time, so that names whose servers never answer cannot take all of it.
 */
export function systemResolver(): Resolve {
  const places = new ConcurrencyLimit(2);
  return (host) => places.run(() => systemLookup(host, { all: true, verbatim: true }));
}

/**
 * The addresses of a host that we may connect to. Connect to these and do not resolve again: what a name server
 * says a moment later (DNS rebinding) then no longer matters. Addresses that are not allowed are left out; when
 * none is left, throws OutboundError.
 */
export async function resolveTarget(
  policy: OutboundPolicy,
  resolve: Resolve,
  host: string,
  port: number,
): Promise<[ResolvedAddress, ...ResolvedAddress[]]> {
  if (isIP(host) !== 0) {
    refuseAddress(policy, host, host, port);
    return [{ address: host, family: isIP(host) }];
  }
  let found: ResolvedAddress[];
  try {
    found = await resolve(host);
  } catch (error) {
    throw new OutboundError("network", `The name ${host} is not known.`, error);
  }
  const verdicts = found.map(({ address }) => judgeAddress(policy, address, host, port));
  const [first, ...rest] = found.filter((_, index) => verdicts[index]!.allowed);
  if (first) return [first, ...rest];
  const refusal = verdicts.find((verdict) => !verdict.allowed);
  if (refusal && !refusal.allowed) throw blocked(host, port, refusal.because);
  throw new OutboundError("network", `The name ${host} has no address.`);
}

/**
 * For `net.connect`, which asks it for a name's addresses and connects to one of them, nothing in between.
 * It is not asked about a host that is an address already: whoever passes it on has to judge those.
 */
export function guardedLookup(policy: OutboundPolicy, resolve: Resolve, port: number): LookupFunction {
  return (host, options, callback) => {
    resolveTarget(policy, resolve, host, port).then(
      (found) => {
        const { family } = options;
        const wanted = found.filter((one) => !family || family === one.family || family === `IPv${one.family}`);
        const [first] = wanted;
        if (!first) {
          const error: NodeJS.ErrnoException = new OutboundError("network", `${host} has no such address.`);
          callback(error, "", 0);
        } else if (options.all) callback(null, wanted);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, "", 0),
    );
  };
}
