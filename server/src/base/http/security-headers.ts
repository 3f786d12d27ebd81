import type { ServerResponse } from "node:http";

/**
 * What every answer tells browsers, whoever wrote it: not to guess content types, not to show it inside of other
 * pages, not to tell other sites where it was, and to run nothing in it. A page of ours brings a policy of its own,
 * which replaces this one.
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
