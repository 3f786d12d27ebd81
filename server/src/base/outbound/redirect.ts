import { OutboundError } from "./outbound-error.ts";

export interface Hop {
  url: URL;
  method: string;
  headers: Headers;
  body: string | Uint8Array | null;
}

/** Headers that may be sent to another origin; any other could be a credential or a signature over the target. */
const HARMLESS = new Set(["accept", "accept-language", "accept-encoding", "content-type", "user-agent"]);

/**
 * Builds the request for a redirect (RFC 9110 §15.4): the method becomes GET where browsers do that. Another origin
 * receives neither the caller's own headers nor a body, and https is never downgraded. Throws OutboundError.
 */
export function followRedirect(hop: Hop, status: number, location: string | null): Hop {
  const reject = (why: string) => new OutboundError("redirect", `${hop.url.host} redirects ${why}.`);
  if (location === null || !URL.canParse(location, hop.url)) throw reject("to an invalid URL");
  const url = new URL(location, hop.url);
  if (hop.url.protocol === "https:" && url.protocol !== "https:") throw reject("from https to another protocol");
  const toGet = status === 303 ? hop.method !== "HEAD" : status < 303 && hop.method === "POST";
  const method = toGet ? "GET" : hop.method;
  const body = toGet ? null : hop.body;
  const headers = new Headers(hop.headers);
  if (body === null) headers.delete("content-type");
  if (url.origin === hop.url.origin) return { url, method, headers, body };
  if (body !== null) throw reject("a request with a body to another origin");
  for (const name of [...headers.keys()]) if (!HARMLESS.has(name)) headers.delete(name);
  return { url, method, headers, body };
}
