import type { Agent as HttpAgent } from "node:http";
import type { Agent as HttpsAgent } from "node:https";

import { type Agent as UndiciAgent, request } from "undici";

import { checkUrl } from "./check-url.ts";
import { guardedAgents, guardedDispatcher } from "./guarded-agents.ts";
import { OutboundError } from "./outbound-error.ts";
import type { OutboundPolicy } from "./policy.ts";
import { ACCEPT_ENCODING, readLimitedBody } from "./read-body.ts";
import { followRedirect, type Hop } from "./redirect.ts";
import { type Resolve, type ResolvedAddress, resolveTarget, systemResolver } from "./resolve-target.ts";

export interface OutboundLimits {
  /** Time until the connection is established, including name resolution. Set per Outbound, not per call. */
  connectMs: number;
  /** Time until the response headers arrive. */
  headersMs: number;
  /** Longest pause between two chunks of the body. */
  bodyMs: number;
  /** Time from the call to the last byte, redirects included. */
  totalMs: number;
  /** Bytes of the response body, both as sent and decoded. */
  maxBytes: number;
  /** Redirects to follow; one more is an error. */
  maxRedirects: number;
}

const DEFAULTS: OutboundLimits = {
  connectMs: 5_000,
  headersMs: 10_000,
  bodyMs: 10_000,
  totalMs: 30_000,
  maxBytes: 4 * 1024 * 1024,
  maxRedirects: 3,
};

export interface OutboundInit {
  method?: string;
  headers?: ConstructorParameters<typeof Headers>[0];
  body?: string | Uint8Array | URLSearchParams | null;
  /** `manual` returns a redirect unchanged, `error` rejects it. */
  redirect?: "follow" | "manual" | "error";
  signal?: AbortSignal | null;
}

/**
 * Guarded HTTP client for all outbound calls: webhooks, S3, Git and identity providers. One per process; `close` ends
 * its connections.
 */
export interface Outbound {
  policy: OutboundPolicy;
  /** Checks a target before it is stored; throws OutboundError (422). */
  check(url: string | URL): URL;
  /** Guarded `fetch` that reads the whole response. Throws OutboundError, or the abort reason of the signal. */
  fetch(url: string | URL, init?: OutboundInit, limits?: Partial<Omit<OutboundLimits, "connectMs">>): Promise<Response>;
  /** Addresses that a child process may connect to: pin them (`git -c http.curloptResolve=host:port:address`). */
  resolve(host: string, port: number): Promise<[ResolvedAddress, ...ResolvedAddress[]]>;
  /** For undici, to stream a response: the guard without the limits. */
  dispatcher: UndiciAgent;
  /** For Node.js's client and the AWS SDK: the guard without the limits. */
  httpAgent: HttpAgent;
  httpsAgent: HttpsAgent;
  close(): Promise<void>;
}

export function createOutbound(
  policy: OutboundPolicy,
  options: { limits?: Partial<OutboundLimits>; resolve?: Resolve } = {},
): Outbound {
  const resolve = options.resolve ?? systemResolver();
  const defaults = { ...DEFAULTS, ...options.limits };
  const dispatcher = guardedDispatcher(policy, resolve, defaults.connectMs);
  const { httpAgent, httpsAgent } = guardedAgents(policy, resolve);
  return {
    policy,
    dispatcher,
    httpAgent,
    httpsAgent,
    check: (url) => checkUrl(policy, url),
    fetch: (url, init = {}, limits = {}) => call({ policy, dispatcher }, url, init, { ...defaults, ...limits }),
    resolve: (host, port) => resolveTarget(policy, resolve, host, port),
    async close() {
      httpAgent.destroy();
      httpsAgent.destroy();
      await dispatcher.destroy();
    },
  };
}

async function call(
  outbound: Pick<Outbound, "policy" | "dispatcher">,
  target: string | URL,
  init: OutboundInit,
  limits: OutboundLimits,
): Promise<Response> {
  const overdue = AbortSignal.timeout(limits.totalMs);
  const signal = init.signal ? AbortSignal.any([overdue, init.signal]) : overdue;
  let hop = firstHop(checkUrl(outbound.policy, target), init);
  for (let redirects = 0; ; redirects++) {
    let answer: { response: Response; location: string | null };
    try {
      answer = await exchange(outbound.dispatcher, hop, signal, limits);
    } catch (error) {
      if (init.signal?.aborted) throw init.signal.reason;
      throw translate(error, hop.url, overdue.aborted, limits);
    }
    const { response, location } = answer;
    const redirected = [301, 302, 303, 307, 308].includes(response.status);
    if (!redirected || init.redirect === "manual") return response;
    if (init.redirect === "error" || redirects === limits.maxRedirects) {
      throw new OutboundError("redirect", `${hop.url.host} redirected more than ${redirects} times.`);
    }
    const next = followRedirect(hop, response.status, location);
    hop = { ...next, url: checkUrl(outbound.policy, next.url) };
  }
}

function firstHop(url: URL, init: OutboundInit): Hop {
  const headers = new Headers(init.headers);
  // headers that belong to the connection and the checked target
  for (const name of ["host", "connection", "content-length", "transfer-encoding"]) headers.delete(name);
  if (!headers.has("user-agent")) headers.set("user-agent", "heddle");
  headers.set("accept-encoding", ACCEPT_ENCODING);
  const { body = null } = init;
  if (body instanceof URLSearchParams) {
    if (!headers.has("content-type")) headers.set("content-type", "application/x-www-form-urlencoded;charset=UTF-8");
    return { url, method: (init.method ?? "GET").toUpperCase(), headers, body: body.toString() };
  }
  return { url, method: (init.method ?? "GET").toUpperCase(), headers, body };
}

async function exchange(dispatcher: UndiciAgent, hop: Hop, signal: AbortSignal, limits: OutboundLimits) {
  const { statusCode, headers, body } = await request(hop.url, {
    dispatcher,
    signal,
    method: hop.method as "GET",
    headers: Object.fromEntries(hop.headers),
    body: hop.body,
    headersTimeout: limits.headersMs,
    bodyTimeout: limits.bodyMs,
  });
  const encoding = [headers["content-encoding"] ?? ""].flat().join(", ");
  const content = await readLimitedBody(body, encoding, limits.maxBytes);
  const received = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    // these describe the body as sent, not as returned
    if (name === "content-encoding" || name === "content-length" || value === undefined) continue;
    for (const single of [value].flat()) received.append(name, single);
  }
  const bodiless = [204, 205, 304].includes(statusCode);
  const response = new Response(bodiless ? null : (content as BodyInit), { status: statusCode, headers: received });
  Object.defineProperty(response, "url", { value: hop.url.href });
  return { response, location: received.get("location") };
}

function translate(error: unknown, url: URL, overdue: boolean, limits: OutboundLimits): Error {
  if (error instanceof OutboundError) return error;
  const { code = "" } = error as { code?: string };
  const late = (problem: string) => new OutboundError("timeout", `${url.host} ${problem}.`, error);
  if (overdue) return late(`did not complete its response within ${limits.totalMs} ms`);
  if (code === "UND_ERR_CONNECT_TIMEOUT") return late("did not accept the connection in time");
  if (code === "UND_ERR_HEADERS_TIMEOUT") return late(`did not answer within ${limits.headersMs} ms`);
  if (code === "UND_ERR_BODY_TIMEOUT") return late(`sent nothing for ${limits.bodyMs} ms`);
  return new OutboundError("network", `${url.host} could not be called: ${code || "invalid response"}.`, error);
}
