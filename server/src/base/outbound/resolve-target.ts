import { lookup as systemLookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";

import { FairQueue } from "../fair-queue.ts";
import { blocked, rejectAddress } from "./check-url.ts";
import { OutboundError } from "./outbound-error.ts";
import { judgeAddress, type OutboundPolicy } from "./policy.ts";

export interface ResolvedAddress {
  address: string;
  family: number;
}

/** Resolves a name to its addresses. A parameter, so that tests can act as a hostile name server. */
export type Resolve = (host: string) => Promise<ResolvedAddress[]>;

/**
 * Uses the system's resolver, which reads /etc/hosts and a cluster's search domains. It shares a thread pool of four
 * with file operations: two names at a time, so that unresponsive name servers cannot block the whole pool.
 */
export function systemResolver(): Resolve {
  const limit = new FairQueue({ capacity: 2 });
  return (host) => limit.run(() => systemLookup(host, { all: true, verbatim: true }));
}

/**
 * Resolves a host to the addresses that the policy permits. Connect to these without resolving again, so that a later
 * answer of the name server (DNS rebinding) has no effect. Throws OutboundError when no permitted address is left.
 */
export async function resolveTarget(
  policy: OutboundPolicy,
  resolve: Resolve,
  host: string,
  port: number,
): Promise<[ResolvedAddress, ...ResolvedAddress[]]> {
  if (isIP(host) !== 0) {
    rejectAddress(policy, host, host, port);
    return [{ address: host, family: isIP(host) }];
  }
  let found: ResolvedAddress[];
  try {
    found = await resolve(host);
  } catch (error) {
    throw new OutboundError("network", `The host name ${host} could not be resolved.`, error);
  }
  const verdicts = found.map(({ address }) => judgeAddress(policy, address, host, port));
  const [first, ...rest] = found.filter((_, index) => verdicts[index]!.allowed);
  if (first) return [first, ...rest];
  const rejection = verdicts.find((verdict) => !verdict.allowed);
  if (rejection && !rejection.allowed) throw blocked(host, port, rejection.because);
  throw new OutboundError("network", `The host name ${host} has no address.`);
}

/**
 * Creates a lookup for `net.connect`, which connects directly to one of the returned addresses. It is not called for a
 * host that is already an address: callers must check those themselves.
 */
export function guardedLookup(policy: OutboundPolicy, resolve: Resolve, port: number): LookupFunction {
  return (host, options, callback) => {
    resolveTarget(policy, resolve, host, port).then(
      (found) => {
        const { family } = options;
        const matching = found.filter(
          (address) => !family || family === address.family || family === `IPv${address.family}`,
        );
        const [first] = matching;
        if (!first) {
          const error: NodeJS.ErrnoException = new OutboundError(
            "network",
            `${host} has no address of the requested family.`,
          );
          callback(error, "", 0);
        } else if (options.all) callback(null, matching);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, "", 0),
    );
  };
}
