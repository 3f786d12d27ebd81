import { expect, test } from "vitest";

import { noAudit, testPrincipal, WORKSPACE } from "../../../test/principal.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { insertWorkspace } from "../../identity/workspaces/sql.ts";
import { traceRoutes } from "../index.ts";
import { explainMissingTrace } from "../not-built.ts";

const { call, platform, sql } = await testTracePlatform();

test("info returns the SDKs' configuration, under each of its paths", async () => {
  for (const path of ["/info", "/api/v1/info"]) {
    const { json } = await call("GET", path);
    const [major, minor, patch] = (json.version as string).split(".").map(Number) as [number, number, number];
    expect(major * 1_000_000 + minor * 1000 + patch).toBeGreaterThanOrEqual(16_014);
    expect(json.batch_ingest_config).toEqual({
      use_multipart_endpoint: true,
      scale_up_qsize_trigger: 1000,
      scale_up_nthreads_limit: 16,
      scale_down_nempty_trigger: 4,
      size_limit: 100,
      size_limit_bytes: 20_971_520,
    });
    expect(json.instance_flags).toMatchObject({
      gzip_body_enabled: true,
      zstd_compression_enabled: true,
      dataset_examples_multipart_enabled: true,
    });
  }
});

test("a trailing slash is ignored", async () => {
  for (const path of ["/info/", "/api/v1/sessions/", "/sessions/?limit=1", "/ok/"]) {
    expect([path, (await call("GET", path)).status]).toEqual([path, 200]);
  }
  expect((await call("POST", "/runs/query/", { limit: 0 })).status).toBe(422);
  expect((await call("GET", "/sessions//")).status).toBe(404);
  expect((await call("GET", "/feedback/tokens/x/")).text).toMatch(/link is unknown/);
});

test("a client can read the workspace of its key", async () => {
  expect((await call("GET", "/settings")).status).toBe(404);
  const organization = testPrincipal().organizationId;
  await sql`insert into organizations (id, display_name) values (${organization}, 'o')`;
  const plan = "enterprise" as const;
  const workspace = { id: WORKSPACE, organization_id: organization, display_name: "w", tenant_handle: null, plan };
  await insertWorkspace(sql, { ...workspace, is_default: true });
  const { json } = await call("GET", "/api/v1/settings");
  expect(json).toEqual({ id: WORKSPACE, display_name: "w", tenant_handle: null, created_at: expect.any(String) });
});

test("unknown endpoints of the vendor say what to use instead", async () => {
  for (const [path, what] of [
    ["/api/v1/likes/a/b", /README/],
    ["/comments/a/b", /no comments/],
    ["/repos/optimize-job", /evaluate\(\)/],
    ["/api/v1/repos/a/b/optimization-jobs/c/logs", /evaluate\(\)/],
    ["/repos/a/b/owners", /roles/],
    ["/v1/platform/annotation-queues/x/items/y/finals/z", /no final answers/],
    ["/api/v2/runs/rules", /automation rules/],
    ["/api/v1/runs/rules/decision-models", /judges are prompts/],
    ["/api/v1/sessions/x/issues", /runs\/stats/],
    ["/api/v2/sessions", /\/api\/v1\/sessions/],
    ["/v2/datasets", /\/api\/v1\/datasets/],
    ["/api/v2/threads/stats", /runs\/group\/stats/],
    ["/api/v2/threads/t/share", /Share each turn/],
    ["/api/v2/ai-search/parse", /filter-language/],
    ["/api/v1/sessions/resolutions", /sessions\?name=/],
    ["/v1/platform/sessions/x/agent-versions", /runs\/stats/],
    ["/api/v1/datasets/studio_experiment", /examples\/bulk/],
    ["/api/v1/orgs/current/dashboard", /org-charts/],
    ["/api/v1/public/t/datasets/runs/query", /Share a run/],
    ["/api/v1/orgs/ttl-settings", /retention_days/],
    ["/api/v1/orgs/current/billing/usage", /HEDDLE_RATE_LIMITS/],
    ["/api/v1/orgs/current/sso-settings", /HEDDLE_OIDC_ISSUER/],
    ["/v1/platform/orgs/current/scim/tokens", /no SCIM/],
    ["/api/v1/usage-limits/org", /HEDDLE_RATE_LIMITS/],
    ["/api/v1/service-accounts", /service-keys/],
    ["/v1/platform/mcp-vendors/x/tools", /openapi\.json/],
  ] as const) {
    for (const method of ["GET", "POST"]) {
      const { status, text } = await call(method, path, method === "POST" ? {} : undefined);
      expect([method, path, status]).toEqual([method, path, 404]);
      expect(text).toMatch(what);
    }
  }
  for (const [method, path, what] of [
    ["POST", "/api/v1/orgs", /heddle workspaces create/],
    ["GET", "/v1/platform/orgs/current/info", /\/api\/v1\/orgs\/current\/info/],
    ["GET", "/v1/platform/orgs/current/members", /\/api\/v1\/orgs\/current\/members/],
    ["GET", "/api/v1/feedback/formulas/x", /POST \/api\/v1\/feedback/],
    ["PUT", "/api/v1/feedback/formulas/x", /no longer part/],
    ["DELETE", "/api/v1/feedback/formulas/x", /no longer part/],
  ] as const) {
    const { status, text } = await call(method, path, method === "PUT" || method === "POST" ? {} : undefined);
    expect([method, path, status]).toEqual([method, path, 404]);
    expect(text).toMatch(what);
  }
  expect((await call("GET", "/api/v1/nonsense")).text).not.toMatch(/Heddle/);
});

test("no route is among the missing endpoints", () => {
  const id = crypto.randomUUID();
  const routes = traceRoutes(platform.deps, noAudit).flatMap(({ method, path, aliases = [] }) =>
    [path, ...aliases].map((name) => ({ method, path: name.replaceAll(/:\w+(\{[^}]*\})?/g, id) })),
  );
  expect(routes.length).toBeGreaterThan(500);
  expect(routes.filter(({ method, path }) => explainMissingTrace(path, method))).toEqual([]);
});

test("links that clients build from the platform's URL lead to the console", async () => {
  for (const path of [
    "/o/t/projects/p/x/r/y?poll=true",
    "/o/t/datasets/x/compare?selectedSessions=z",
    "/o/t/a%20b",
    "/public/t/r",
    "/prompts/greeting?organizationId=t",
    "/prompts/greeting/abcdef12?organizationId=t",
  ]) {
    const { status, headers } = await call("GET", path);
    expect([status, headers.get("location")]).toEqual([302, `http://localhost:3000${path}`]);
  }
  expect((await call("GET", "/o/t/a%0Ab")).status).toBe(400);
});

test("downloads and reports of the hosted service are 404 with the path to use instead", async () => {
  for (const [method, path, instead] of [
    ["GET", "/public/download", "/api/v1/attachments/{token}"],
    ["GET", "/api/v1/public/download/x/y", "/api/v1/attachments/{token}"],
    ["POST", "/v1/metadata/submit", "extra.metadata"],
    ["POST", "/api/v1/metadata/submit", "extra.metadata"],
    ["POST", "/x/v1/metadata/submit", "extra.metadata"],
  ] as const) {
    const { status, text } = await call(method, path);
    expect([path, status, text]).toEqual([path, 404, expect.stringContaining(instead)]);
  }
});

test("removed endpoints are 410", async () => {
  expect((await call("GET", "/feedback/formulas?dataset_id=x")).status).toBe(410);
  expect((await call("POST", "/feedback/formulas", {})).status).toBe(410);
});

test("the OpenAPI document links the guides, which are HTML pages", async () => {
  const { json } = await call("GET", "/openapi.json");
  const guides = json["x-guides"] as { title: string; url: string }[];
  expect(guides.map(({ url }) => url)).toContain("/docs/filter-language");
  for (const { url } of guides) {
    const page = await call("GET", url);
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=UTF-8"]);
    expect(page.text).toMatch(/<h1 id="[\w-]+">/);
    // below a prefix that a proxy strips
    const targets = [...page.text.matchAll(/<a href="([^"#]*)/g)]
      .map(([, target]) => new URL(target!, `http://host/prefix${url}`))
      .filter(({ host }) => host === "host");
    expect(targets.map(({ pathname }) => pathname)).toContain("/prefix/docs");
    expect(targets.filter(({ pathname }) => !pathname.startsWith("/prefix/docs"))).toEqual([]);
  }
  expect((await call("GET", "/docs/nothing")).status).toBe(404);
});

test("health includes the stores on request", async () => {
  expect((await call("GET", "/ok")).json).toEqual({ ok: true });
  const { json } = await call("GET", "/api/v1/ok?check_db=true");
  expect(Object.keys(json.checks as object)).toEqual(["postgres", "clickhouse"]);
});

test("readiness lists every component, on both of its paths", async () => {
  for (const path of ["/ready", "/api/v1/ready", "/readyz"]) {
    const { status, json } = await call("GET", path);
    expect([status, json.ok, Object.keys(json.checks as object)]).toEqual([
      200,
      true,
      ["postgres", "schema", "clickhouse", "blobs", "ingest", "disk"],
    ]);
  }
});

test("the OpenAPI document describes the mounted routes, with ingest's content types", async () => {
  const { json } = await call("GET", "/openapi.json");
  expect(json.openapi).toBe("3.1.0");
  const { requestBody, responses } = json.paths["/api/v1/runs/multipart"].post;
  expect(Object.keys(requestBody.content as object)).toEqual(["multipart/form-data"]);
  expect(Object.keys(responses as object)).toEqual(expect.arrayContaining(["202", "422", "429"]));
  const page = await call("GET", "/docs");
  expect(page.headers.get("content-type")).toContain("text/html");
});
