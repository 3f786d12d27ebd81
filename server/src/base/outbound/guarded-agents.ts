import { Agent as HttpAgent, type ClientRequestArgs } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";

import { Agent as UndiciAgent, buildConnector } from "undici";

import { rejectAddress } from "./check-url.ts";
import { OutboundError } from "./outbound-error.ts";
import type { OutboundPolicy } from "./policy.ts";
import { guardedLookup, type Resolve } from "./resolve-target.ts";

/**
 * Dispatcher that checks the address of every connection, wherever the URL came from: a redirect, a library, a typo. A
 * name is checked in the socket's own lookup, so the address that was checked is the one connected to.
 */
export function guardedDispatcher(policy: OutboundPolicy, resolve: Resolve, connectMs: number): UndiciAgent {
  return new UndiciAgent({
    // the wait for a response's first bytes is bounded by the caller's own limits
    keepAliveTimeout: 4_000,
    connect(options, callback) {
      const port = Number(options.port || (options.protocol === "https:" ? 443 : 80));
      try {
        rejectLiteral(policy, options.hostname, port);
      } catch (error) {
        callback(error as Error, null);
        return;
      }
      buildConnector({ timeout: connectMs, lookup: guardedLookup(policy, resolve, port) })(options, callback);
    },
  });
}

type ConnectOptions = ClientRequestArgs & { host?: string | null };
type Connected = (error: Error | null, socket: Duplex) => void;

/**
 * Guarded agents for Node.js's own client, as used by the AWS SDK (`new NodeHttpHandler({ httpAgent, httpsAgent })`).
 */
export const guardedAgents = (policy: OutboundPolicy, resolve: Resolve) => ({
  httpAgent: guarded(new HttpAgent(AGENT_OPTIONS), policy, resolve, 80),
  httpsAgent: guarded(new HttpsAgent(AGENT_OPTIONS), policy, resolve, 443),
});

const AGENT_OPTIONS = { keepAlive: true, maxSockets: 64 };

function guarded<A extends HttpAgent>(agent: A, policy: OutboundPolicy, resolve: Resolve, defaultPort: number): A {
  const createConnection = agent.createConnection.bind(agent);
  agent.createConnection = (options: ConnectOptions, connected?: Connected) => {
    const checked = guard(policy, resolve, options, defaultPort, connected);
    return checked && createConnection(checked, connected);
  };
  return agent;
}

/** Returns the options with the guarded lookup, or undefined after reporting a rejection. */
function guard(
  policy: OutboundPolicy,
  resolve: Resolve,
  options: ConnectOptions,
  defaultPort: number,
  connected: Connected | undefined,
): ConnectOptions | undefined {
  const port = Number(options.port ?? defaultPort);
  try {
    // the agent passes the request's own path as `path` only for Unix sockets
    if (options.socketPath) throw new OutboundError("blocked", "Unix domain sockets cannot be called.");
    rejectLiteral(policy, options.host ?? "localhost", port);
  } catch (error) {
    if (!connected) throw error;
    // asynchronously, because the caller does not have its request yet
    process.nextTick(connected, error, undefined);
    return undefined;
  }
  return { ...options, lookup: guardedLookup(policy, resolve, port) };
}

function rejectLiteral(policy: OutboundPolicy, host: string, port: number): void {
  const hostname = host.replace(/^\[|\]$/g, "");
  if (isIP(hostname) !== 0) rejectAddress(policy, hostname, hostname, port);
}
