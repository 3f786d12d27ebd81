import { expect, test } from "vitest";

import { noAudit } from "../../../test/principal.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { traceRoutes } from "../index.ts";
import { canonicalPath } from "./canonical-path.ts";
import { activeTable, type RequestIdentities, chooseRows, findAddressRow, rulesFor } from "./choose-rows.ts";

/** Routes by the rows that count a request with a key and a user. Routes that are missing here count by default. */
const CLASSES: Record<string, string[]> = {
  "runs-create.key": ["POST /api/v1/runs"],
  "runs-update.key": [
    "PATCH /api/v1/annotation-queues/:queue_id/runs/:queue_run_id",
    "PATCH /api/v1/runs/:run_id",
    "PATCH /api/v1/runs/rules/:rule_id",
  ],
  "runs-batch.key": ["POST /api/v1/runs/batch"],
  "runs-multipart.key": ["POST /api/v1/runs/multipart"],
  "otel-traces.key": ["POST /otel/v1/traces"],
  "runs-query.key runs-query.user": ["POST /api/v1/runs/query", "POST /api/v2/runs/query"],
  "runs-stats.key": ["POST /api/v1/runs/stats"],
  "run-lookup.key": ["GET /api/v1/runs/:run_id", "GET /api/v2/runs/:run_id"],
  "deletion.key deletion.user": [
    "DELETE /api/v1/sessions",
    "DELETE /api/v1/sessions/:session_id",
    "DELETE /api/v1/sessions/:session_id/insights/:job_id",
    "DELETE /api/v1/sessions/:session_id/insights/configs/:config_id",
    "DELETE /api/v1/sessions/:session_id/views/:view_id",
    "POST /api/v1/runs/rules/trigger",
    "POST /api/v1/runs/rules/:rule_id/trigger",
  ],
  "charts.key charts.user": [
    "POST /api/v1/charts",
    "POST /api/v1/charts/:chart_id",
    "POST /api/v1/charts/changes",
    "POST /api/v1/charts/create",
    "POST /api/v1/charts/events",
    "POST /api/v1/charts/preview",
    "POST /api/v1/charts/section",
    "POST /api/v1/charts/section/:section_id",
    "POST /api/v1/charts/section/clone",
  ],
  "generate.key generate.user": [
    "POST /api/v1/sessions/:session_id/insights/configs/generate",
    "POST /api/v1/datasets/:dataset_id/generate",
  ],
  "model-calls.key model-calls.user": [
    "POST /api/v1/playground/stream",
    "POST /api/v1/datasets/playground_experiment/stream",
    "POST /api/v1/datasets/playground_experiment/batch",
  ],
  "feedback.key": ["POST /api/v1/feedback"],
  "examples.key": [
    "GET /api/v1/examples",
    "GET /api/v1/examples/count",
    "GET /api/v1/examples/:example_id",
    "GET /api/v1/public/:share_token/examples",
    "GET /api/v1/public/:share_token/examples/count",
  ],
  "auth.key auth.user": [
    "GET /auth/public",
    "POST /api/v1/auth/password",
    "GET /api/v1/auth/sign-in-methods",
    "GET /auth/oidc/login",
    "GET /auth/oidc/callback",
  ],
  "repos.key repos.user": [
    "GET /api/v1/repos",
    "POST /api/v1/repos",
    "DELETE /api/v1/repos",
    "GET /api/v1/repos/tags",
    "GET /api/v1/repos/tag-moves",
    "GET /api/v1/repos/:owner/:repo",
    "PATCH /api/v1/repos/:owner/:repo",
    "DELETE /api/v1/repos/:owner/:repo",
    "POST /api/v1/repos/:owner/:repo/fork",
    "GET /api/v1/repos/:owner/:repo/statistics",
    "GET /api/v1/repos/:owner/:repo/tags",
    "POST /api/v1/repos/:owner/:repo/tags",
    "GET /api/v1/repos/:owner/:repo/tags/:tag_name",
    "PATCH /api/v1/repos/:owner/:repo/tags/:tag_name",
    "DELETE /api/v1/repos/:owner/:repo/tags/:tag_name",
    "GET /api/v1/repos/:owner/:repo/tags/:tag_name/history",
  ],
  "commits.key commits.user": [
    "GET /api/v1/commits/:owner/:repo",
    "POST /api/v1/commits/:owner/:repo",
    "GET /api/v1/commits/:owner/:repo/:commit",
  ],
  // rows of addresses, which count requests without a key too
  health: ["GET /api/v1/ok", "GET /api/v1/ready", "GET /api/v1/readyz", "GET /api/v1/livez"],
  info: ["GET /api/v1/info/health", "GET /api/v1/info"],
  "public-download": ["GET /api/v1/attachments/:token"],
};

const DEFAULT = "default.key default.user";
const UUID = "0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000";

const { platform } = await testTracePlatform();
const routes = traceRoutes(platform.deps, noAudit);
const table = activeTable((row) => row.us);

/** Returns the rows that count a request to a declared path. */
function chosenRows(method: string, declared: string, identities: RequestIdentities): string {
  const path = canonicalPath(declared.replaceAll(/:\w+(\{[^}]*\})?/g, UUID));
  const matching = rulesFor(table, method, path);
  const address = findAddressRow(matching);
  const rows = address ? [address] : chooseRows(table, matching, identities);
  return rows.map(({ name }) => name).join(" ");
}

test("every route counts in the rows of its class, and no other route does", () => {
  const found: Record<string, string[]> = {};
  for (const { method, path } of routes) {
    const rows = chosenRows(method, path, { key: true, user: true });
    if (rows !== DEFAULT) (found[rows] ??= []).push(`${method} ${path}`);
  }
  const sorted = (classes: Record<string, string[]>) =>
    Object.fromEntries(Object.entries(classes).map(([rows, list]) => [rows, list.toSorted()]));
  expect(sorted(found)).toEqual(sorted(CLASSES));
  expect(routes.length).toBeGreaterThan(150);
});

test("the aliases of a route count in the rows of its path", () => {
  const combinations = [true, false].flatMap((key) => [true, false].map((user) => ({ key, user })));
  for (const { method, path, aliases = [] } of routes) {
    // the row of feedback names POST /feedback alone
    for (const alias of aliases.filter((name) => !name.endsWith("/feedback/eager"))) {
      for (const identities of combinations) {
        expect([alias, chosenRows(method, alias, identities)]).toEqual([alias, chosenRows(method, path, identities)]);
      }
    }
  }
});

test("without a key or a user, only health, info and downloads have their own rows", () => {
  for (const { method, path } of routes) {
    const rows = chosenRows(method, path, { key: false, user: false });
    const own = ["health", "info", "public-download"].find((name) => CLASSES[name]!.includes(`${method} ${path}`));
    expect([method, path, rows]).toEqual([method, path, own ?? "public"]);
  }
});
