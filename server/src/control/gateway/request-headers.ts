/** Headers of a request to a deployment: without the platform's credentials, with the client's address. */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";

import { normalizeAddress } from "../../base/http/client-ip.ts";
import { FORWARDED_HEADER, isInternalHeader } from "../../base/http/internal-headers.ts";
import { HOP_BY_HOP } from "../../base/http/hop-by-hop.ts";
import { type CredentialRule, credentialsIn, PLATFORM_COOKIES } from "../../identity/platform-credentials.ts";
import type { RouteMatch } from "./route-match.ts";

export interface ForwardContext {
  match: RouteMatch;
  /** Workspace of the deployment. */
  workspaceId: string;
  mayPass: CredentialRule;
  /** Whether forwarding headers of a proxy are trusted. */
  isFromProxy: boolean;
}

export async function headersForDeployment(
  request: IncomingMessage,
  { match, workspaceId, mayPass, isFromProxy }: ForwardContext,
): Promise<Record<string, string | string[]>> {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined && !HOP_BY_HOP.has(name) && !isInternalHeader(name)) headers[name] = value;
  }
  headers[FORWARDED_HEADER] = "gateway";
  // without its own framing, Node.js would send the body of a GET as if it were the next request
  if (request.headers["transfer-encoding"] !== undefined) {
    delete headers["content-length"];
    headers["transfer-encoding"] = "chunked";
  }
  const cookie = withoutPlatformCookies(request.headers.cookie);
  if (cookie === undefined) delete headers["cookie"];
  else headers["cookie"] = cookie;
  for (const name of await headersToWithhold(headers, workspaceId, mayPass)) delete headers[name];

  const peer = normalizeAddress(request.socket.remoteAddress ?? "") ?? "";
  const before = request.headers["x-forwarded-for"];
  headers["x-forwarded-for"] = before === undefined ? peer : `${String(before)}, ${peer}`;
  // without a trusted proxy, these may be forged
  if (!isFromProxy) {
    delete headers["x-forwarded-host"];
    delete headers["x-forwarded-proto"];
  }
  headers["x-forwarded-host"] ??= request.headers.host ?? "";
  headers["x-forwarded-proto"] ??= "http";
  if (match.prefix === "") delete headers["x-forwarded-prefix"];
  else headers["x-forwarded-prefix"] = match.prefix;
  return headers;
}

/** Removes query parameters with credentials that the deployment may not receive. */
export async function pathForDeployment(path: string, { workspaceId, mayPass }: ForwardContext): Promise<string> {
  const at = path.indexOf("?");
  if (at < 0 || !MAY_HOLD_CREDENTIAL.test(path)) return path;
  const keptPairs: string[] = [];
  for (const pair of path.slice(at + 1).split("&")) {
    if (await mayAllPass(decoded(pair), workspaceId, mayPass)) keptPairs.push(pair);
  }
  return keptPairs.length === 0 ? path.slice(0, at) : `${path.slice(0, at)}?${keptPairs.join("&")}`;
}

/** Cheap pre-check, as most paths hold no credential. Percent-encoding may hide one. */
const MAY_HOLD_CREDENTIAL = /heddle_|lsv2_|%/i;

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

async function mayAllPass(text: string, workspaceId: string, mayPass: CredentialRule): Promise<boolean> {
  for (const credential of credentialsIn(text)) if (!(await mayPass(credential, workspaceId))) return false;
  return true;
}

function withoutPlatformCookies(cookie: string | undefined): string | undefined {
  if (cookie === undefined || !cookie.includes("heddle_")) return cookie;
  const keptCookies = cookie.split(";").filter((pair) => !PLATFORM_COOKIES.has(pair.split("=", 1)[0]!.trim()));
  return keptCookies.length === 0 ? undefined : keptCookies.join(";").trim();
}

async function headersToWithhold(
  headers: IncomingHttpHeaders,
  workspaceId: string,
  mayPass: CredentialRule,
): Promise<string[]> {
  const withheld: string[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !(await mayAllPass(String(value), workspaceId, mayPass))) withheld.push(name);
  }
  return withheld;
}
