import type { ServerResponse } from "node:http";

/**
 * Headers of every response, whatever its origin: no content sniffing, no framing, no referrer to other sites, and no
 * scripts. A page of ours sets its own policy, which replaces this one.
 */
const SECURITY_HEADERS: [name: string, value: string][] = [
  ["X-Content-Type-Options", "nosniff"],
  ["X-Frame-Options", "DENY"],
  ["Referrer-Policy", "no-referrer"],
  ["Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"],
];

export function setSecurityHeaders(response: ServerResponse): void {
  for (const [name, value] of SECURITY_HEADERS) response.setHeader(name, value);
}
