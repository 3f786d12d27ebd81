import type { Use } from "../../base/rate-limits/windows.ts";
import type { CanonicalPath } from "./canonical-path.ts";
import type { ActiveRow } from "./choose-rows.ts";
import type { Identity } from "./table.ts";

/** Whole seconds until the window ends, at least one. */
export const secondsLeft = ({ resetMs }: Use): number => Math.max(1, Math.ceil(resetMs / 1000));

/** Returns the fields of draft-ietf-httpapi-ratelimit-headers-10: a policy per row, and its current use. */
export function rateLimitHeaders(uses: Use[]): Record<string, string> {
  return {
    "RateLimit-Policy": uses.map(({ limit }) => `"${limit.name}";q=${limit.count};w=${limit.seconds}`).join(", "),
    RateLimit: uses
      .map((use) => `"${use.limit.name}";r=${Math.max(0, use.limit.count - use.used)};t=${secondsLeft(use)}`)
      .join(", "),
  };
}

/** Returns the rejecting row; of several, the one with the latest reset. */
export function rejectingUse(uses: Use[]): Use {
  const full = uses.filter(({ limit, used }) => used >= limit.count);
  return full.reduce((worst, use) => (use.resetMs > worst.resetMs ? use : worst));
}

/** Builds a 429 with the error body of the route's family, naming the row. */
export function reject(method: string, path: CanonicalPath, uses: Use[], row: ActiveRow): Response {
  const use = rejectingUse(uses);
  const retryAfter = secondsLeft(use);
  const message =
    `Too many requests: ${row.count} in ${row.seconds} s ${HOLDERS[row.row.identity]} is the limit ` +
    `"${row.name}" (${row.row.category}). Try again in ${retryAfter} s.`;
  const headers = { ...rateLimitHeaders(uses), "Retry-After": String(retryAfter), "Cache-Control": "no-store" };
  switch (errorFamily(method, path)) {
    case "problem":
      return new Response(
        JSON.stringify({
          type: "https://iana.org/assignments/http-problem-types#quota-exceeded",
          title: "Too Many Requests",
          status: 429,
          detail: message,
          instance: path.full,
          "violated-policies": [row.name],
        }),
        { status: 429, headers: { ...headers, "Content-Type": "application/problem+json" } },
      );
    case "error":
      return Response.json({ error: message }, { status: 429, headers });
    case "detail":
      return Response.json({ detail: message }, { status: 429, headers });
  }
}

const HOLDERS: Record<Identity, string> = {
  ip: "for an address",
  key: "for an API key",
  user: "for a user at an address",
};

/** Returns the error format: v2, ingest and platform, or the rest of v1. */
function errorFamily(method: string, { bare, version }: CanonicalPath): "problem" | "error" | "detail" {
  if (version === "v2") return "problem";
  if (/^\/(platform|otel|info|auth|me|commits|beacon|metadata)(\/|$)/.test(bare)) return "error";
  const ingests =
    (method === "POST" && /^\/runs(\/batch|\/multipart)?$/.test(bare)) ||
    (method === "PATCH" && /^\/runs\/[^/]+$/.test(bare));
  return ingests ? "error" : "detail";
}
