/**
 * Two tenants on one platform: B requests A's objects by id, on every route, in the path, in the query and in the body.
 * B receives nothing of A's, and nothing of A's changes. Ids are found by parameter name; a route whose parameter has
 * no object of A's fails the test, so that coverage grows with the routes.
 */
import type { Hono } from "hono";
import { expect, test } from "vitest";
import { z } from "zod";

import type { Route } from "../../server/src/base/http/route.ts";
import { testGuard, testTenants } from "../../server/test/identity.ts";
import { sampleBody } from "./sample-body.ts";
import { startSpaces } from "./spaces.ts";
import { fillDeployments, fillTenant, MARK } from "./tenant-things.ts";
import { changedTables, tableStates } from "./table-states.ts";

const { db, all } = await startSpaces();
const { a, b } = await testTenants(db);
const guard = await testGuard(db);
/** Spaces that serve all workspaces. */
const shared = all.filter((space) => space.name === "trace" || space.name === "control");
const apps = new Map<Route, Hono>(
  shared.flatMap((space) => {
    const app = space.mount(guard);
    return space.routes.map((route) => [route, app] as const);
  }),
);
const findApp = (name: string): Hono => apps.get(shared.find((space) => space.name === name)!.routes[0]!)!;
const asOwner = { "x-api-key": a.org, "x-tenant-id": a.workspaceId };
const things = {
  ...(await fillTenant(findApp("trace"), asOwner, a.workspaceId)),
  ...(await fillDeployments(findApp("control"), asOwner)),
};
const ids = [...new Set(Object.values(things).flat())];

const asB = { "x-api-key": b.org, "x-tenant-id": b.workspaceId, "content-type": "application/json" };
/** Read-only routes run first: B may create its own objects under ids that A uses, and would then see those. */
const routes = shared
  .flatMap((space) => space.routes)
  .filter((route) => route.permission !== "public")
  .toSorted((a, other) => Number(other.method === "GET") - Number(a.method === "GET"));
const pathParameters = (route: Route): string[] => [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name!);

/** Parameters that do not identify a tenant's object, with the reason. */
const HARMLESS: Record<string, string> = {
  name: "a name of the caller's own",
  index: "a place in a queue, which is named too",
  version: "of a dataset or an evaluator, which is named too",
  library_id: "of the library of evaluators, the same for all",
  proposal_id: "of a dataset, which is named too",
  provider: "a provider of models, the same for all",
  cluster_id: "of an insights job, which is named too",
};

test("every parameter that names an object has one of A's for the tests", () => {
  const names = new Set(routes.flatMap(pathParameters));
  expect([...names].filter((name) => !(name in HARMLESS) && (things[name] ?? []).length === 0)).toEqual([]);
});

const allNames = (schema: z.ZodType | undefined): string[] => {
  if (!schema) return [];
  const json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  const variants = [json, ...(json.anyOf ?? []), ...(json.oneOf ?? [])] as { properties?: object }[];
  return [...new Set(variants.flatMap((variant) => Object.keys(variant.properties ?? {})))];
};

/** Returns A's id for a parameter name; undefined for properties that are no ids. */
const findId = (name: string): string | undefined => (things[name] ?? things[name.replace(/s$/, "")] ?? [])[0];

function* requestsTo(route: Route): Generator<{ path: string; body?: string }> {
  const path = route.path.replace(/:(\w+)(\{[^}]*\})?/g, (_, name: string) => findId(name) ?? "x");
  const query = allNames(route.query).flatMap((name) => (findId(name) ? [`${name}=${findId(name)}`] : []));
  const paths = [
    path,
    ...(query.length > 0 ? [`${path}?${query.join("&")}`] : []),
    ...query.map((parameters) => `${path}?${parameters}`),
  ];
  if (route.method === "GET") {
    for (const path of paths) yield { path: path };
    return;
  }
  const names = allNames(route.body).filter((name) => findId(name) !== undefined);
  for (const path of paths) {
    yield { path: path, body: "{}" };
    for (const wrap of [(id: string): unknown => id, (id: string) => [id]]) {
      const whole = Object.fromEntries(names.map((name) => [name, wrap(findId(name)!)]));
      yield { path: path, body: JSON.stringify(whole) };
      for (const name of names) yield { path: path, body: JSON.stringify({ [name]: wrap(findId(name)!) }) };
    }
  }
}

test("B can neither see nor change A's objects, whatever ids B has", { timeout: 180_000 }, async () => {
  const before = await tableStates(db.sql, ids, b.workspaceId);
  const wrong: string[] = [];
  let requestCount = 0;
  for (const route of routes) {
    for (const { path, body } of requestsTo(route)) {
      requestCount += 1;
      const response = await apps.get(route)!.request(path, {
        method: route.method,
        headers: asB,
        ...(body !== undefined && { body }),
      });
      const text = await response.text();
      const what = `${route.method} ${path} ${body ?? ""}: ${response.status} ${text.slice(0, 300)}`;
      if (text.includes(MARK)) wrong.push(`shows what is A's: ${what}`);
      const named = pathParameters(route).some((name) => things[name] !== undefined);
      if (route.method === "GET" && named && response.ok) wrong.push(`is answered: ${what}`);
      if (response.status >= 500) wrong.push(`breaks: ${what}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(changedTables(before, await tableStates(db.sql, ids, b.workspaceId))).toEqual([]);
  expect(requestCount).toBeGreaterThan(150);
  console.log(`${requestCount} requests by B for ${ids.length} things of A on ${routes.length} routes`);
});

/** Replaces ids of A by ids of nothing: always the same one by the same. */
function toMissing(text: string, missing: Map<string, string>): string {
  for (const id of ids) if (!missing.has(id)) missing.set(id, crypto.randomUUID());
  return [...missing].reduce((all, [id, other]) => all.replaceAll(id, other), text);
}

/** Ids and times, which differ between any two answers. */
const withoutIds = (text: string): string =>
  text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID").replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+(Z|\+[\d:]+)/g, "TIME");

test("the answer to B about an object of A is that about one that does not exist", { timeout: 300_000 }, async () => {
  const wrong: string[] = [];
  let requestCount = 0;
  for (const route of routes.filter((each) => pathParameters(each).some((name) => findId(name) !== undefined))) {
    const valid = route.body && JSON.stringify(sampleBody(route.body, findId));
    const all = [...requestsTo(route)];
    const withValid = valid === undefined ? all : [...all, ...all.map(({ path }) => ({ path, body: valid }))];
    for (const { path, body } of withValid) {
      const missing = new Map<string, string>();
      const send = async (text: (of: string) => string) => {
        const response = await apps.get(route)!.request(text(path), {
          method: route.method,
          headers: asB,
          ...(body !== undefined && { body: text(body) }),
        });
        return `${response.status} ${withoutIds(await response.text())}`;
      };
      requestCount += 1;
      const aboutForeign = await send((text) => text);
      const aboutMissing = await send((text) => toMissing(text, missing));
      if (aboutForeign === aboutMissing) continue;
      wrong.push(
        `${route.method} ${path} ${body ?? ""}: ${aboutForeign.slice(0, 200)} / ${aboutMissing.slice(0, 200)}`,
      );
    }
  }
  expect(wrong).toEqual([]);
  expect(requestCount).toBeGreaterThan(100);
});

test("A can see them all, as a control for the test above", async () => {
  const asA = { "x-api-key": a.org, "x-tenant-id": a.workspaceId };
  let readable = 0;
  for (const route of routes.filter((route) => route.method === "GET" && pathParameters(route).length > 0)) {
    const [{ path }] = [...requestsTo(route)] as [{ path: string }];
    const response = await apps.get(route)!.request(path, { headers: asA });
    await response.body?.cancel();
    if (response.ok) readable += 1;
  }
  expect(readable).toBeGreaterThan(5);
});
