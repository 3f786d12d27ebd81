import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { unauthorized } from "../../server/src/base/errors.ts";
import type { Guard, Route } from "../../server/src/base/http/route.ts";
import { PUBLIC_BODY_BYTES } from "../../server/src/base/http/hold-body.ts";
import { noAudit, testPrincipal } from "../../server/test/principal.ts";
import { concrete, startSpaces } from "./spaces.ts";

const SOURCES = fileURLToPath(new URL("../../server/src", import.meta.url));
const { all } = await startSpaces();

const closed: Guard = {
  authenticator: { authenticate: () => Promise.reject(unauthorized("nobody gets in")) },
  audit: noAudit,
  auditsData: false,
};
const powerless: Guard = {
  authenticator: { authenticate: () => testPrincipal(undefined, []) },
  audit: noAudit,
  auditsData: false,
};
const allPaths = (route: Route): string[] => [route.path, ...(route.aliases ?? [])];

/** Public routes. Opening a route to everyone requires an entry here, so that the change is reviewed. */
const PUBLIC = [
  "agent GET /",
  "agent GET /docs",
  "agent GET /info",
  "agent GET /livez",
  "agent GET /metrics",
  "agent GET /ok",
  "agent GET /openapi.json",
  "agent GET /ready",
  "agent GET /readyz",
  "control GET /",
  "control GET /docs",
  "control GET /info",
  "control GET /livez",
  "control GET /metrics",
  "control GET /o/:tenant_id/host/deployments/:deployment_id",
  "control GET /ok",
  "control GET /openapi.json",
  "control GET /ready",
  "control GET /readyz",
  "control POST /webhooks/github/:integration_id",
  "control POST /webhooks/gitlab/:integration_id",
  "control PUT /uploads/tarballs/:tenant_id/:deployment_id/:file",
  "trace GET /",
  "trace GET /.well-known/oauth-protected-resource/mcp",
  "trace GET /api/v1/attachments/:token",
  "trace GET /api/v1/auth/sign-in-methods",
  "trace GET /api/v1/feedback/tokens/:token",
  "trace GET /api/v1/info",
  "trace GET /api/v1/info/health",
  "trace GET /api/v1/livez",
  "trace GET /api/v1/ok",
  "trace GET /api/v1/public/datasets/sessions-bulk",
  "trace GET /api/v1/ready",
  "trace GET /api/v1/readyz",
  "trace GET /auth/oidc/callback",
  "trace GET /auth/oidc/login",
  "trace GET /docs",
  "trace GET /docs/bulk-export",
  "trace GET /docs/deletion",
  "trace GET /docs/export-permissions",
  "trace GET /docs/filter-language",
  "trace GET /docs/tracing",
  "trace GET /docs/versions",
  "trace GET /metrics",
  "trace GET /o/:tenant_id/:page{[\\s\\S]+}",
  "trace GET /openapi.json",
  "trace GET /prompts/:repo",
  "trace GET /prompts/:repo/:commit",
  "trace GET /public/:share_token/d",
  "trace GET /public/:share_token/r",
  "trace POST /api/v1/feedback/tokens/:token",
  "trace POST /api/v1/login",
  "trace POST /api/v1/logout",
  "trace POST /api/v1/runs/query/validate",
];

test("every space that the server can mount is covered by these tests", () => {
  const modules = readdirSync(new URL("../../server/src", import.meta.url)).filter((name) => name.endsWith("-app.ts"));
  expect(all.map((space) => space.module).toSorted()).toEqual(modules.toSorted());
});

test("an application mounts only declared routes", () => {
  for (const space of all) {
    const declared = new Set(space.routes.flatMap((route) => allPaths(route).map((path) => `${route.method} ${path}`)));
    const mounted = space.mount(closed).routes.map(({ method, path }) => `${method} ${path}`);
    const stray = mounted.filter((path) => path !== "ALL /*" && !declared.has(path));
    expect(stray, `${space.name}: not declared`).toEqual([]);
  }
});

test("no two routes claim the same path", () => {
  for (const space of all) {
    const paths = space.routes.flatMap((route) => allPaths(route).map((path) => `${route.method} ${concrete(path)}`));
    const twice = paths.filter((path, index) => paths.indexOf(path) !== index);
    expect(twice, `${space.name}: claimed twice`).toEqual([]);
  }
});

test("the public routes are the listed ones, besides those with a share token", () => {
  const open = all.flatMap((space) =>
    space.routes
      .filter((route) => route.permission === "public" && !/^\/api\/v\d\/public\/:share_token\//.test(route.path))
      .map(({ method, path }) => `${space.name} ${method} ${path}`),
  );
  expect(open.toSorted()).toEqual(PUBLIC);
});

test("public routes accept small bodies; SECURITY.md names the exceptions", () => {
  const larger = all.flatMap((space) =>
    space.routes
      .filter((route) => route.permission === "public")
      .filter(({ streamsBody, maxBodyBytes }) => streamsBody || (maxBodyBytes ?? 0) > PUBLIC_BODY_BYTES)
      .map(({ method, path, maxBodyBytes }) => `${space.name} ${method} ${path} ${maxBodyBytes ?? "streamed"}`),
  );
  expect(larger.toSorted()).toEqual([
    "control POST /webhooks/github/:integration_id 1048576",
    "control POST /webhooks/gitlab/:integration_id 1048576",
    "control PUT /uploads/tarballs/:tenant_id/:deployment_id/:file streamed",
  ]);
});

test("every other route and alias consults the guard first and obeys it", async () => {
  let requestCount = 0;
  for (const space of all) {
    const [shut, barred] = [space.mount(closed), space.mount(powerless)];
    for (const route of space.routes.filter((route) => route.permission !== "public")) {
      for (const path of allPaths(route)) {
        const request = { method: route.method, ...(route.method !== "GET" && { body: "not { even JSON" }) };
        const rejected = await shut.request(concrete(path, "no-uuid-at-all"), request);
        expect(rejected.status, `${route.method} ${path} without a caller`).toBe(401);
        const forbidden = await barred.request(concrete(path, "no-uuid-at-all"), request);
        expect(forbidden.status, `${route.method} ${path} without permissions`).toBe(403);
        requestCount += 1;
      }
    }
  }
  expect(requestCount).toBeGreaterThan(50);
});

test("only the modules that limit connections open ports", () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter((file) =>
    /(?<!\.test)\.ts$/.test(file),
  );
  const opens = /import [^;]*\bcreate(Secure)?Server\b[^;]* from "node:(http|https|http2)"|\bserve\(\{/;
  const opening = files.filter((file) => opens.test(readFileSync(SOURCES + file, "utf8")));
  expect(opening).toEqual(["base/http/grpc-server.ts", "base/http/http-server.ts"]);
});
