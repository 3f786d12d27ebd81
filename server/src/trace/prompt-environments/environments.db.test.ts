import { randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import { testTracePlatform } from "../../../test/trace-platform.ts";

const { call } = await testTracePlatform();
const path = "/api/v1/hub/environments";
const named = (...names: string[]) => ({ environments: names.map((name) => ({ name })) });

test("environments are configured once, replaced, and return to the defaults when deleted", async () => {
  const byDefault = await call("GET", path);
  expect([byDefault.status, byDefault.json]).toEqual([
    404,
    { error: expect.stringContaining("staging and production") },
  ]);
  const created = await call("POST", path, named("dev", "live"));
  expect(created.json).toEqual({ id: expect.any(String), ...named("dev", "live") });
  expect((await call("GET", "/hub/environments")).json).toEqual(created.json);
  expect((await call("POST", path, named("x"))).status).toBe(409);
  const { id } = created.json;
  expect((await call("PATCH", `${path}/${id}`, named("a", "b", "c", "d"))).json).toEqual({
    id,
    ...named("a", "b", "c", "d"),
  });
  const other = { "x-test-workspace": randomUUID() };
  expect((await call("PATCH", `${path}/${id}`, named("theirs"), other)).status).toBe(404);
  expect((await call("DELETE", `${path}/${id}`, undefined, other)).status).toBe(404);
  expect((await call("DELETE", `${path}/${id}`)).status).toBe(200);
  expect((await call("DELETE", `${path}/${id}`)).status).toBe(404);
  expect((await call("GET", path)).status).toBe(404);
});

test("environments are up to four different names of tags", async () => {
  for (const body of [
    {},
    named(),
    named("a", "b", "c", "d", "e"),
    named("a", "a"),
    named("latest"),
    named("a b"),
    named("x".repeat(65)),
  ]) {
    const { status, json } = await call("POST", path, body);
    expect([body, status, json]).toEqual([body, 422, { error: expect.stringContaining("environments") }]);
  }
});
