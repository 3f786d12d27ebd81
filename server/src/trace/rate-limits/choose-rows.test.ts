import { expect, test } from "vitest";

import { canonicalPath } from "./canonical-path.ts";
import { activeTable, type RequestIdentities, chooseRows, findAddressRow, rulesFor } from "./choose-rows.ts";
import { matches, type Pattern, specificity } from "./patterns.ts";
import { ALL_ROWS, RULES } from "./table.ts";

const table = activeTable((row) => row.us);
const UUID = "0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000";

/** Returns the rows that count a request. */
function chosenRows(request: string, identities: Partial<RequestIdentities> = {}, active = table): string[] {
  const [method, path] = request.split(" ") as [string, string];
  const matching = rulesFor(active, method, canonicalPath(path));
  const address = findAddressRow(matching);
  const rows = address ? [address] : chooseRows(active, matching, { key: false, user: false, ...identities });
  return rows.map(({ name }) => name);
}
const KEY = { key: true };
const USER = { user: true };
const BOTH = { key: true, user: true };

/** Table of the service interface, row by row in its order, each with matching requests. */
const TABLE: [row: string, us: string, eu: string, identities: Partial<RequestIdentities>, requests: string[]][] = [
  [
    "options",
    "2000/10",
    "2000/10",
    {},
    ["OPTIONS /runs", "OPTIONS /anything", "OPTIONS /info", `OPTIONS /repos/a/b`, "OPTIONS /"],
  ],
  [
    "info",
    "2000/10",
    "2000/10",
    {},
    [
      "GET /info",
      "GET /api/v1/info",
      "GET /info/health",
      "POST /v1/metadata/submit",
      "POST /api/v1/metadata/submit",
      "POST /metadata/submit",
      "POST /x/y/v1/metadata/submit",
    ],
  ],
  ["auth.key", "2000/10", "2000/10", KEY, ["GET /auth", "GET /auth/public", "POST /api/v1/auth/sso"]],
  ["auth.user", "2000/10", "2000/10", USER, ["GET /auth", "GET /auth/public", "POST /v1/auth"]],
  ["beacon", "2000/10", "2000/10", {}, ["POST /v1/beacon/usage-snapshot", "GET /v1/beacon", "POST /api/v1/beacon"]],
  ["repos.key", "100/60", "100/60", KEY, ["GET /repos", "GET /repos/", "POST /api/v1/repos/a/b/fork", "PUT /v1/repos"]],
  ["repos.user", "100/60", "100/60", USER, ["GET /repos", "DELETE /api/v1/repos/a/b"]],
  [
    "runs-batch.key",
    "2000/10",
    "2000/10",
    KEY,
    ["POST /runs/batch", "POST /api/v1/runs/batch", "POST /v1/runs/batch/"],
  ],
  [
    "otel-traces.key",
    "2000/10",
    "2000/10",
    KEY,
    ["POST /otel/v1/traces", "POST /api/v1/otel/v1/traces", "POST /otel", "POST /v1/traces", "POST /api/v1/v1/traces"],
  ],
  [
    "charts.key",
    "750/600",
    "750/600",
    KEY,
    ["POST /charts", "POST /api/v1/charts/section/clone", "POST /x/charts/preview"],
  ],
  ["charts.user", "750/600", "750/600", USER, ["POST /charts", "POST /api/v1/charts/create"]],
  ["runs-multipart.key", "6000/10", "6000/10", KEY, ["POST /runs/multipart", "POST /api/v1/runs/multipart"]],
  ["runs-query.key", "15/10", "15/10", KEY, ["POST /runs/query", "POST /api/v1/runs/query", "POST /v2/runs/query"]],
  ["runs-query.user", "300/10", "300/10", USER, ["POST /runs/query", "POST /api/v2/runs/query"]],
  ["generate.key", "30/3600", "30/3600", KEY, ["POST /generate", "GET /generate/x", `POST /datasets/${UUID}/generate`]],
  ["generate.user", "30/3600", "30/3600", USER, ["POST /api/v1/generate", `POST /api/v1/datasets/${UUID}/generate`]],
  ["commits.key", "10000/60", "2000/60", KEY, ["GET /commits/a/b", "GET /api/v1/commits/a/b/latest", "POST /commits"]],
  ["commits.user", "10000/60", "2000/60", USER, ["GET /commits/a/b/", "PUT /v1/commits"]],
  [
    "deletion.key",
    "10/60",
    "10/60",
    KEY,
    ["DELETE /sessions", `DELETE /api/v1/sessions/${UUID}`, "POST /runs/rules/trigger", "GET /x/trigger"],
  ],
  ["deletion.user", "30/60", "30/60", USER, [`DELETE /sessions/${UUID}`, `POST /api/v1/runs/rules/${UUID}/trigger`]],
  [
    "runs-create.key",
    "2000/10",
    "2000/10",
    KEY,
    ["POST /runs", "POST /api/v1/runs", "POST /runs/", "POST /API/v1/RUNS"],
  ],
  [
    "runs-update.key",
    "2000/10",
    "2000/10",
    KEY,
    [`PATCH /runs/${UUID}`, `PATCH /api/v1/runs/${UUID}`, "PATCH /runs", "PATCH /annotation-queues/1/runs/2"],
  ],
  ["feedback.key", "2000/10", "2000/10", KEY, ["POST /feedback", "POST /api/v1/feedback"]],
  [
    "run-lookup.key",
    "30/60",
    "30/60",
    KEY,
    [
      `GET /runs/${UUID}`,
      `GET /api/v1/runs/${UUID}`,
      `GET /runs/${UUID.toUpperCase()}`,
      `GET /runs/${UUID.replaceAll("-", "")}`,
      `HEAD /runs/${UUID}`,
      `GET /v2/runs/${UUID}`,
    ],
  ],
  [
    "examples.key",
    "5000/60",
    "5000/60",
    KEY,
    ["GET /examples", "GET /v1/platform/datasets/1/examples", "HEAD /examples"],
  ],
  ["default.key", "1000/10", "1000/10", KEY, ["GET /", "GET /sessions", "GET /runs", "PUT /nothing/here"]],
  ["default.user", "1000/10", "1000/10", USER, ["GET /sessions", "POST /runs", "POST /runs/batch", "GET /examples"]],
  [
    "public-download",
    "5000/60",
    "5000/60",
    {},
    ["GET /public/download", "GET /api/v1/public/download/x", "GET /attachments/x", "HEAD /api/v1/attachments/x"],
  ],
  ["runs-stats.key", "1/10", "20/10", KEY, ["POST /runs/stats", "GET /api/v1/runs/stats", "POST /v2/runs/stats"]],
  ["public", "100/60", "100/60", {}, ["GET /", "POST /runs", "GET /repos", "GET /auth/public", `GET /runs/${UUID}`]],
];

test.each(TABLE)("%s: %s (US) and %s (EU)", (row, us, eu, identities, requests) => {
  const found = ALL_ROWS.find(({ id }) => id === row)!;
  expect([found.us.join("/"), found.eu.join("/")]).toEqual([us, eu]);
  for (const request of requests) expect([request, chosenRows(request, identities)]).toEqual([request, [row]]);
});

test("the table has the rows of the service interface, plus health and calls of models", () => {
  const own = ["health", "model-calls.key", "model-calls.user"];
  expect(ALL_ROWS.map(({ id }) => id).toSorted()).toEqual([...TABLE.map(([row]) => row), ...own].toSorted());
  expect(chosenRows("POST /api/v1/playground/stream", BOTH)).toEqual(["model-calls.key", "model-calls.user"]);
  expect(chosenRows("GET /ok", KEY)).toEqual(["health"]);
});

/** Requests that several rules match, or nearly match. */
test.each<[string, Partial<RequestIdentities>, string[]]>([
  // OPTIONS before all others
  ["OPTIONS /runs/stats", BOTH, ["options"]],
  [`OPTIONS /sessions/trigger`, KEY, ["options"]],
  // a rule for addresses replaces the defaults
  ["GET /info", BOTH, ["info"]],
  ["GET /public/download", KEY, ["public-download"]],
  ["POST /v1/beacon", KEY, ["beacon"]],
  // operations beside POST /runs
  ["POST /runs/batch", KEY, ["runs-batch.key"]],
  ["POST /runs/delete", KEY, ["default.key"]],
  ["POST /runs/rules", KEY, ["default.key"]],
  ["POST /runs/query/validate", KEY, ["default.key"]],
  ["POST /runs/generate-query", KEY, ["default.key"]],
  ["GET /runs/batch", KEY, ["default.key"]],
  ["GET /runs/rules", KEY, ["default.key"]],
  [`GET /runs/${UUID}/share`, KEY, ["default.key"]],
  [`GET /runs/${UUID}x`, KEY, ["default.key"]],
  ["POST /feedback/tokens", KEY, ["default.key"]],
  ["DELETE /feedback", KEY, ["default.key"]],
  ["GET /otel/v1/traces", KEY, ["default.key"]],
  ["POST /otel/v1/logs", KEY, ["default.key"]],
  ["GET /sessions", KEY, ["default.key"]],
  ["GET /charts", KEY, ["default.key"]],
  ["POST /org-charts", KEY, ["default.key"]],
  // exact before containing
  ["PATCH /runs/stats", KEY, ["runs-stats.key"]],
  ["PATCH /runs/query", KEY, ["runs-update.key"]],
  // prefix before suffix and containing
  ["GET /repos/me/trigger", KEY, ["repos.key"]],
  ["POST /repos/me/generate", KEY, ["repos.key"]],
  ["GET /repos/v1/metadata/submit", KEY, ["repos.key"]],
  ["GET /repos/v1/metadata/submit", {}, ["public"]],
  ["POST /repos/me/charts", KEY, ["repos.key"]],
  ["PATCH /repos/me/runs", KEY, ["repos.key"]],
  ["GET /repos/me/examples", KEY, ["repos.key"]],
  ["GET /commits/me/trigger", KEY, ["commits.key"]],
  ["GET /commits/examples/x", USER, ["commits.user"]],
  ["POST /auth/trigger", KEY, ["auth.key"]],
  ["POST /info/trigger", KEY, ["info"]],
  ["POST /generate/trigger", KEY, ["generate.key"]],
  ["DELETE /sessions/1/generate", KEY, ["deletion.key"]],
  ["GET /public/download/examples", KEY, ["public-download"]],
  ["GET /beacon/trigger", KEY, ["beacon"]],
  // suffix before containing
  ["PATCH /runs/rules/1/trigger", KEY, ["deletion.key"]],
  ["POST /charts/1/trigger", KEY, ["deletion.key"]],
  ["GET /examples/1/trigger", KEY, ["deletion.key"]],
  ["POST /charts/1/generate", USER, ["generate.user"]],
  ["PATCH /runs/v1/metadata/submit", KEY, ["info"]],
  // prefixes are whole segments
  ["GET /information", KEY, ["default.key"]],
  ["GET /reposition", KEY, ["default.key"]],
  ["GET /authors", {}, ["public"]],
  ["DELETE /sessions-of-mine", KEY, ["default.key"]],
  ["POST /regenerate", KEY, ["default.key"]],
  // identities
  ["POST /runs/query", BOTH, ["runs-query.key", "runs-query.user"]],
  ["GET /sessions", BOTH, ["default.key", "default.user"]],
  ["POST /runs/batch", BOTH, ["runs-batch.key"]],
  ["POST /runs/stats", USER, ["default.user"]],
  ["POST /runs/stats", {}, ["public"]],
])("%s with %o counts in %j", (request, identities, rows) => {
  expect(chosenRows(request, identities)).toEqual(rows);
});

test("every alias and spelling of a path counts in the same row", () => {
  for (const [, , , identities, requests] of TABLE) {
    for (const request of requests) {
      const [method, path] = request.split(" ") as [string, string];
      const { bare } = canonicalPath(path);
      // a suffix may overlap with the alias' prefix
      if (bare.endsWith("/v1/metadata/submit")) continue;
      for (const prefix of ["", "/v1", "/api", "/api/v1", "/v2", "/api/v2"]) {
        for (const spelling of [
          `${prefix}${bare}`,
          `${prefix}${bare}/`,
          `/${prefix}${bare}`,
          `${prefix}${bare}`.toUpperCase(),
        ]) {
          expect([spelling, chosenRows(`${method} ${spelling}`, identities)]).toEqual([
            spelling,
            chosenRows(request, identities),
          ]);
        }
      }
    }
  }
});

test("no request matches two rules that are equally specific", () => {
  const patterns = RULES.flatMap((rule) => rule.match.map((pattern) => ({ rule, pattern })));
  const paths = patterns.map(({ pattern }) => pattern.path ?? "").concat(`/runs/${UUID}`, "/x");
  // every path of the table, and every combination of two
  const corpus = new Set(paths.flatMap((a) => [a, ...paths.flatMap((b) => [`${a}${b}`, `${a}/x${b}`, `${a}${b}/x`])]));
  const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
  const several: string[] = [];
  const ambiguous: string[] = [];
  for (const path of corpus) {
    for (const method of methods) {
      const canonical = canonicalPath(path);
      const matching = patterns.filter(({ pattern }) => matches(pattern, method, canonical));
      const best = Math.max(...matching.map(({ pattern }) => specificity(pattern)));
      const winners = new Set(matching.filter(({ pattern }) => specificity(pattern) === best).map(({ rule }) => rule));
      if (new Set(matching.map(({ rule }) => rule)).size > 1) several.push(`${method} ${path}`);
      if (winners.size > 1) ambiguous.push(`${method} ${path}`);
    }
  }
  expect(ambiguous).toEqual([]);
  expect(several.length).toBeGreaterThan(500);
});

test("no two patterns of one kind match the same request", () => {
  const patterns = RULES.flatMap((rule) => rule.match.map((pattern) => ({ rule, pattern })));
  const meets = (a: Pattern, b: Pattern): boolean => {
    if (a.method && b.method && a.method !== b.method) return false;
    if (a.kind !== b.kind || a.kind === "any" || b.kind === "any") return a.kind === b.kind;
    const [first, other] = [a.path, b.path];
    if (a.kind === "exact" || a.kind === "uuid") return first === other;
    if (a.kind === "prefix") return `${first}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${first}/`);
    if (a.kind === "suffix") return first.endsWith(other) || other.endsWith(first);
    return true;
  };
  const pairs = patterns.flatMap((a, index) => patterns.slice(index + 1).map((b) => [a, b] as const));
  const ambiguous = pairs.filter(([a, b]) => a.rule !== b.rule && meets(a.pattern, b.pattern));
  expect(ambiguous).toEqual([]);
});

test("a disabled row is skipped", () => {
  const without = (...ids: string[]) => activeTable((row) => (ids.includes(row.id) ? null : row.us));
  expect(chosenRows("POST /runs/query", KEY, without("runs-query.key"))).toEqual(["default.key"]);
  expect(chosenRows("POST /runs/query", BOTH, without("runs-query.key"))).toEqual(["runs-query.user"]);
  expect(chosenRows("GET /info", KEY, without("info"))).toEqual(["default.key"]);
  expect(chosenRows("GET /x", {}, without("public"))).toEqual([]);
});
