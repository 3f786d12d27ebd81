/**
 * The rate limits of the trace platform (service interface §8), as data. Every row has a bucket of its own for each
 * holder: `ip` an address (IPv6: its /64), `key` an API key, `user` a user at an address.
 *
 * Which rows count for a request
 *
 * 1. A path is compared in its bare form, so that every alias counts in the same bucket (`canonical-path.ts`).
 * 2. Rules that match go by how specific they are:
 *        OPTIONS  >  exact path, `{uuid}` included  >  prefix  >  suffix  >  containing
 *    Two rules of the same kind never match the same request; a test goes through all pairs. So `PATCH /runs/stats`
 *    is Stats and not "PATCH containing /runs", and `/repos/me/trigger` is a repository and not a trigger.
 * 3. When the first of them is for addresses, its row counts, whatever else the request bears.
 * 4. Otherwise the first counts that has a row for an identity the request bears, with the row of each that it bears: a
 *    key's, and a user's when both are sent, so that nobody leaves a bucket by naming a user. It replaces the
 *    default rows, also the default of an identity for which it has none itself.
 * 5. When there is none, the default rows count: the key's, the user's, or both.
 * 6. A request that bears neither a good key nor a user counts for its address in the last row. What makes a key
 *    good is in `callers.ts`.
 *
 * Rows of one request are taken from together or not at all: what is refused uses nothing up.
 *
 * Where the table leaves something open:
 * - `POST /runs`, `/runs/batch`, `/runs/query`, `/feedback` and their like are exactly these operations, since other
 *   operations have rows of their own or are not what the category says (`POST /runs/delete` is no ingest).
 *   `/auth`, `/info`, `/repos`, `/commits`, `/sessions` … are prefixes, by whole segments.
 * - `/generate` begins no path of the API; the operation that generates is `POST /datasets/{id}/generate`. So it is
 *   a prefix and a suffix.
 * - `*\/trigger` bears no method of its own (nothing deletes a trigger), so it counts for all of them.
 * - HEAD counts as GET, because the router runs GET's handler for it.
 * - `/v2/X` counts like `/X`.
 *
 * `health` is ours: a probe must not be refused because others behind the same address are, or they could have a
 * healthy server restarted.
 */
import type { Pattern } from "./patterns.ts";

export type Identity = "ip" | "key" | "user";
export type Region = "us" | "eu";

/** Requests in seconds. */
export type Quota = readonly [count: number, seconds: number];

export interface Row {
  /** Unique; what headers, answers, metrics and overrides call it. */
  id: string;
  identity: Identity;
  category: string;
  us: Quota;
  eu: Quota;
}

/** One match of the table with its rows, at most one an identity. */
export interface Rule {
  match: Pattern[];
  rows: Row[];
}

/** A row whose quota is the same everywhere. */
const row = (id: string, identity: Identity, category: string, quota: Quota, eu = quota): Row => ({
  id,
  identity,
  category,
  us: quota,
  eu,
});

/** For a key and for a user alike. */
const forBoth = (id: string, category: string, quota: Quota, eu = quota): Row[] => [
  row(`${id}.key`, "key", category, quota, eu),
  row(`${id}.user`, "user", category, quota, eu),
];

export const RULES: readonly Rule[] = [
  {
    match: [{ method: "OPTIONS", kind: "any" }],
    rows: [row("options", "ip", "High throughput", [2000, 10])],
  },
  {
    match: [
      { kind: "prefix", path: "/info" },
      { kind: "suffix", path: "/v1/metadata/submit" },
    ],
    rows: [row("info", "ip", "High throughput", [2000, 10])],
  },
  {
    match: [
      { kind: "exact", path: "/ok" },
      { kind: "exact", path: "/ready" },
    ],
    rows: [row("health", "ip", "Health (ours)", [2000, 10])],
  },
  {
    match: [{ kind: "prefix", path: "/auth" }],
    rows: forBoth("auth", "High throughput", [2000, 10]),
  },
  {
    match: [{ kind: "prefix", path: "/beacon" }],
    rows: [row("beacon", "ip", "High throughput", [2000, 10])],
  },
  {
    match: [{ kind: "prefix", path: "/repos" }],
    rows: forBoth("repos", "Repository", [100, 60]),
  },
  {
    match: [{ method: "POST", kind: "exact", path: "/runs/batch" }],
    rows: [row("runs-batch.key", "key", "High throughput", [2000, 10])],
  },
  {
    match: [{ method: "POST", kind: "exact", path: "/otel/v1/traces" }],
    rows: [row("otel-traces.key", "key", "Run ingest", [2000, 10])],
  },
  {
    match: [{ method: "POST", kind: "containing", path: "/charts" }],
    rows: forBoth("charts", "Charts", [750, 600]),
  },
  {
    match: [{ method: "POST", kind: "exact", path: "/runs/multipart" }],
    rows: [row("runs-multipart.key", "key", "Multipart ingest", [6000, 10])],
  },
  {
    match: [{ method: "POST", kind: "exact", path: "/runs/query" }],
    rows: [
      row("runs-query.key", "key", "Run query (API)", [15, 10]),
      row("runs-query.user", "user", "Run query (User)", [300, 10]),
    ],
  },
  {
    match: [
      { kind: "prefix", path: "/generate" },
      { kind: "suffix", path: "/generate" },
    ],
    rows: forBoth("generate", "Generation", [30, 3600]),
  },
  {
    match: [{ kind: "prefix", path: "/commits" }],
    rows: forBoth("commits", "Commits", [10_000, 60], [2000, 60]),
  },
  {
    match: [
      { method: "DELETE", kind: "prefix", path: "/sessions" },
      { kind: "suffix", path: "/trigger" },
    ],
    rows: [row("deletion.key", "key", "Deletion", [10, 60]), row("deletion.user", "user", "Deletion", [30, 60])],
  },
  {
    match: [{ method: "POST", kind: "exact", path: "/runs" }],
    rows: [row("runs-create.key", "key", "Run ingest", [2000, 10])],
  },
  {
    match: [{ method: "PATCH", kind: "containing", path: "/runs" }],
    rows: [row("runs-update.key", "key", "Run ingest", [2000, 10])],
  },
  {
    match: [{ method: "POST", kind: "exact", path: "/feedback" }],
    rows: [row("feedback.key", "key", "High throughput", [2000, 10])],
  },
  {
    match: [{ method: "GET", kind: "uuid", path: "/runs" }],
    rows: [row("run-lookup.key", "key", "Run lookup", [30, 60])],
  },
  {
    match: [{ method: "GET", kind: "containing", path: "/examples" }],
    rows: [row("examples.key", "key", "Examples", [5000, 60])],
  },
  {
    match: [{ kind: "prefix", path: "/public/download" }],
    rows: [row("public-download", "ip", "Public download", [5000, 60])],
  },
  {
    match: [{ kind: "exact", path: "/runs/stats" }],
    rows: [row("runs-stats.key", "key", "Stats", [1, 10], [20, 10])],
  },
];

/** What counts when no rule does. */
export const DEFAULT_ROWS: Readonly<Record<Identity, Row>> = {
  key: row("default.key", "key", "Default (API key)", [1000, 10]),
  user: row("default.user", "user", "Default (User)", [1000, 10]),
  ip: row("public", "ip", "Public (catch-all)", [100, 60]),
};

export const ALL_ROWS: readonly Row[] = [...RULES.flatMap((rule) => rule.rows), ...Object.values(DEFAULT_ROWS)];
