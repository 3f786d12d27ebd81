/**
 * Sends the requests that evaluators make with `fetch` (JavaScript) and `http_request` (Python): to the hosts that the
 * operator lists, through the guard of all outbound requests, bounded in number, size and time.
 */
import { AppError } from "../../base/errors.ts";
import { canonicalName } from "../../base/outbound/policy.ts";
import type { Outbound } from "../../base/outbound/outbound.ts";

/** Requests of one evaluation. */
export const MAX_REQUESTS = 20;
const MAX_BYTES = 1024 * 1024;

interface RequestByCode {
  url: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string | null;
}

/** What code gets: a response, or why there is none. */
type Answer = { status: number; headers: Record<string, string>; text: string } | { error: string };

/** Sends one request. Never throws: the answer says what failed. */
export async function requestByCode(
  outbound: Pick<Outbound, "fetch">,
  hosts: readonly string[],
  frame: Buffer,
  signal: AbortSignal,
): Promise<Buffer> {
  const answer = await send(outbound, hosts, frame, signal).catch((error: unknown): Answer => {
    // an aborted evaluation, or what an evaluator wrote that is no request
    return { error: error instanceof AppError ? error.message : "The request could not be sent." };
  });
  return Buffer.from(JSON.stringify(answer));
}

async function send(
  outbound: Pick<Outbound, "fetch">,
  hosts: readonly string[],
  frame: Buffer,
  signal: AbortSignal,
): Promise<Answer> {
  const { url: text, method, headers = {}, body = null } = JSON.parse(frame.toString()) as RequestByCode;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    return { error: `${JSON.stringify(text)} is not a URL of http or https.` };
  if (!isListed(hosts, url)) {
    return { error: `Evaluators may not reach ${url.host}; the operator lists hosts in HEDDLE_CODE_EVALUATOR_HOSTS.` };
  }
  const response = await outbound.fetch(
    url,
    // a redirect leads to another host; code sees it, and may follow it itself
    { method: method ?? "GET", headers, body, signal, redirect: "manual" },
    { maxBytes: MAX_BYTES },
  );
  return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() };
}

/** A host is listed for its scheme's port, a host with a port for that port. */
function isListed(hosts: readonly string[], url: URL): boolean {
  const name = canonicalName(url.hostname);
  return hosts.some((host) => canonicalName(host) === (url.port === "" ? name : `${name}:${url.port}`));
}
