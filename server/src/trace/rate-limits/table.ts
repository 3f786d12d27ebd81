/**
 * Rate limits of the trace platform, as data. Every row has a separate bucket per holder: `ip`
 * an address (IPv6: its /64), `key` an API key, `user` a user at an address.
 *
 * Selection of the rows that count a request:
 *
 * 1. Paths are compared in canonical form, so that all aliases share a bucket (`canonical-path.ts`).
 * 2. Matching rules are ordered by specificity:
 *        OPTIONS  >  exact path, `{uuid}` included  >  prefix  >  suffix  >  containing
 *    Two rules of the same kind never match the same request; a test checks all pairs. So `PATCH /runs/stats` is Stats
 *    and not "PATCH containing /runs", and `/repos/me/trigger` is a repository and not a trigger.
 * 3. If the first rule limits addresses, its row counts, whatever the identities of the request.
 * 4. Otherwise the first rule counts that has a row for an identity of the request, with the rows of all its
 *    identities: the key's, and the user's when both are sent, so that naming a user does not avoid the key's bucket.
 *    It replaces the default rows, also for identities for which it has no row.
 * 5. Without such a rule the default rows count: the key's, the user's, or both.
 * 6. A request with neither a valid key nor a user counts for its address in the last row. `callers.ts` defines valid.
 *
 * The rows of a request are charged together or not at all: a rejected request uses up nothing.
 *
 * Where the table leaves room for interpretation:
 * - `POST /runs`, `/runs/batch`, `/runs/query`, `/feedback` and the like are exactly these operations, since other
 *   operations have separate rows or do not fit the category (`POST /runs/delete` is not ingest). `/auth`, `/info`,
 *   `/repos`, `/commits`, `/sessions` … are prefixes, by whole segments.
 * - No path of the API begins with `/generate`; the operation that generates is `POST /datasets/{id}/generate`. So it
 *   is a prefix and a suffix.
 * - `*\/trigger` has no method (no operation deletes a trigger), so it counts for all of them.
 * - HEAD counts as GET, because the router runs GET's handler for it.
 * - `/v2/X` counts like `/X`.
 *
 * The rows `model-calls` are an addition to LangSmith's: each such request costs money and holds a connection to a
 * provider.
 *
 * The row `health` is an addition to LangSmith's: a probe must not be rejected because of other clients behind the same
 * address,
 * or they could cause the restart of a healthy server.
 */
import type { Pattern } from "./patterns.ts";

export type Identity = "ip" | "key" | "user";
export type Region = "us" | "eu";

/** Number of requests, and window in seconds. */
export type Quota = readonly [count: number, seconds: number];

export interface Row {
  /** Unique name in headers, responses, metrics and overrides. */
  id: string;
  identity: Identity;
  category: string;
  us: Quota;
  eu: Quota;
}

/** Entry of the table: patterns, and at most one row per identity. */
export interface Rule {
  match: Pattern[];
  rows: Row[];
}

/** Builds a row. Without `eu` its quota is the same in all regions. */
const row = (id: string, identity: Identity, category: string, quota: Quota, eu = quota): Row => ({
  id,
  identity,
  category,
  us: quota,
  eu,
});

/** Builds the rows of a quota for both keys and users. */
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
      { kind: "exact", path: "/readyz" },
      { kind: "exact", path: "/livez" },
    ],
    rows: [row("health", "ip", "Health", [2000, 10])],
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
    // the others are aliases: /traces is /v1/traces without its version
    match: ["/otel/v1/traces", "/otel", "/traces", "/v1/traces"].map((path) => ({
      method: "POST",
      kind: "exact",
      path,
    })),
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
    match: [
      "/playground/stream",
      "/datasets/playground_experiment/stream",
      "/datasets/playground_experiment/batch",
    ].map((path) => ({ method: "POST", kind: "exact", path })),
    rows: forBoth("model-calls", "Model calls (ours)", [240, 60]),
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
    // files of runs and examples are downloaded by links to /attachments
    match: [
      { kind: "prefix", path: "/public/download" },
      { method: "GET", kind: "prefix", path: "/attachments" },
    ],
    rows: [row("public-download", "ip", "Public download", [5000, 60])],
  },
  {
    match: [{ kind: "exact", path: "/runs/stats" }],
    rows: [row("runs-stats.key", "key", "Stats", [1, 10], [20, 10])],
  },
];

/** Rows that count when no rule matches. */
export const DEFAULT_ROWS: Readonly<Record<Identity, Row>> = {
  key: row("default.key", "key", "Default (API key)", [1000, 10]),
  user: row("default.user", "user", "Default (User)", [1000, 10]),
  ip: row("public", "ip", "Public (catch-all)", [100, 60]),
};

export const ALL_ROWS: readonly Row[] = [...RULES.flatMap((rule) => rule.rows), ...Object.values(DEFAULT_ROWS)];
