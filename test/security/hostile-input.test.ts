/**
 * Every route of every space × hostile values: null characters, numbers out of range, lone surrogates, paths, SQL,
 * prototypes, depth. None may cause a server error. The fuzzer of the CI run (scripts/fuzz.ts) does this at length;
 * this test needs only Node.
 */
import { expect, test } from "vitest";
import { z } from "zod";

import type { Route } from "../../server/src/base/http/route.ts";
import { testGuard, testTenants } from "../../server/test/identity.ts";
import { startSpaces } from "./spaces.ts";

const { db, all } = await startSpaces();
const { a } = await testTenants(db);
const guard = await testGuard(db);
const UUID = "00000000-0000-7000-8000-0000000000ff";

const TEXTS = [
  "\0",
  "a\0b",
  "\uD800",
  "𝕏\u202Eexe",
  "../../etc/passwd",
  "..%2f..%2fetc%2fpasswd",
  "' or 1=1; drop table runs; --",
  "{{7*7}}${7*7}",
  "__proto__",
  "[",
  "[[[[",
  '{"a":',
  "%",
  "9".repeat(400),
  "-1",
  "1e400",
  "NaN",
  "x".repeat(20_000),
  "",
  UUID,
];
const VALUES: unknown[] = [
  null,
  [],
  {},
  [[]],
  0,
  -1,
  1e308,
  2 ** 60,
  2 ** 31,
  0.1,
  true,
  "\0",
  "\uD800x",
  ["\0"],
  { "a\0": "\uDFFF" },
  { __proto__: null, constructor: { prototype: 1 } },
  "99999-12-31T99:99:99Z",
  "' or 1=1 --",
];
const BODIES = ["", "{", "null", "[]", '"x"', "1e999", "\0", '{"a":'.repeat(5000), "[".repeat(100_000), "\uFEFF{}"];

/** Returns the property names that a route accepts, so that the values pass the outermost check. */
function fieldNames(schema: z.ZodType | undefined): string[] {
  if (!schema) return [];
  const json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  const variants = [json, ...(json.anyOf ?? []), ...(json.oneOf ?? [])] as { properties?: object }[];
  return [...new Set(variants.flatMap((variant) => Object.keys(variant.properties ?? {})))];
}

/** Values that some routes require. No run is started: there would be thousands. */
const GOOD: Record<string, unknown> = {
  ...{ namespace: ["a"], key: "k", value: {}, graph_id: "trail", name: "n" },
  ...{ source: "internal_source", source_config: {}, source_revision_config: {}, secrets: [] },
};
const good = (names: string[]) => Object.fromEntries(Object.entries(GOOD).filter(([name]) => names.includes(name)));

/** Percent-encodes text such as `%00` to bytes, including malformed text. */
const encode = (text: string): string => encodeURIComponent(Buffer.from(text).toString());

function* requestsTo(route: Route): Generator<{ path: string; body?: string }> {
  const path = (value: string) => route.path.replace(/:\w+(\{[^}]*\})?/g, value);
  const fine = path(UUID);
  const query = fieldNames(route.query);
  if (fine !== route.path) for (const text of TEXTS) if (text !== "") yield { path: path(encode(text)) };
  for (const text of query.length > 0 ? TEXTS : []) {
    yield { path: `${fine}?${query.map((name) => `${name}=${encode(text)}`).join("&")}` };
    yield { path: `${fine}?${query.map((name) => `${name}=${encode(text)}&${name}=${encode(text)}`).join("&")}` };
  }
  if (route.method === "GET") return;
  for (const body of BODIES) yield { path: fine, body };
  const names = fieldNames(route.body);
  for (const value of VALUES) {
    if (names.length > 0)
      yield { path: fine, body: JSON.stringify(Object.fromEntries(names.map((name) => [name, value]))) };
    // one at a time, or the first invalid value hides the others
    for (const name of names) yield { path: fine, body: JSON.stringify({ ...good(names), [name]: value }) };
  }
}

for (const space of all) {
  test(`no request to the ${space.name} space causes a server error`, { timeout: 180_000 }, async () => {
    const app = space.mount(guard);
    const wrong: string[] = [];
    let [count, accepted, known] = [0, 0, 0];
    for (const route of space.routes) {
      for (const { path, body } of requestsTo(route)) {
        count += 1;
        const key = { "x-api-key": a.org, "x-tenant-id": a.workspaceId };
        const headers = { ...key, "content-type": "application/json", "x-hostile": "\u00e9\u00ff", prefer: "\u00ff" };
        const response = await app.request(path, {
          method: route.method,
          headers,
          ...(body !== undefined && { body }),
        });
        if (response.status < 300) accepted += 1;
        if (response.status !== 401 && response.status !== 403) known += 1;
        const text = response.status >= 500 ? await response.text() : await response.body?.cancel();
        if (response.status >= 500) {
          wrong.push(`${route.method} ${path.slice(0, 200)} ${body?.slice(0, 200)}: ${response.status} ${text}`);
        }
      }
    }
    console.log(`${accepted} of ${count} hostile requests to ${space.routes.length} routes of the ${space.name} space`);
    expect(wrong).toEqual([]);
    expect(count).toBeGreaterThan(500);
    // the key stays valid to the end; otherwise this would only test 401
    expect(known).toBeGreaterThan(count / 2);
    // most control-plane routes are behind ids that do not exist
    expect(accepted).toBeGreaterThan(space.name === "control" ? 0 : 50);
  });
}

test("rejects malformed credentials without a server error", async () => {
  const hostile = [
    "\u00ff\u00fe",
    "x".repeat(100_000),
    "lsv2_sk_",
    "heddle_session_",
    "null",
    "[object Object]",
    "' or 1=1 --",
  ];
  for (const space of all) {
    const app = space.mount(guard);
    const path = { agent: "/store/items?key=x", control: "/v2/deployments" }[space.name] ?? "/api/v1/workspaces";
    for (const value of hostile) {
      for (const headers of [
        { "x-api-key": value },
        { authorization: `Bearer ${value}` },
        { authorization: value },
        { cookie: `heddle_session=${value}; __Host-heddle_session=${value}`, "x-heddle-csrf": value },
        { "x-tenant-id": value },
        { "x-user-id": value, "x-organization-id": value },
      ]) {
        const { status } = await app.request(path, { headers: new Headers(Object.entries(headers)) });
        expect(status, `${JSON.stringify(headers).slice(0, 100)} on ${space.name}`).toBe(401);
      }
    }
  }
});
