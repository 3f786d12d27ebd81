import { randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import { ALL_PERMISSIONS, isReading } from "../../base/auth/permissions.ts";
import { createCaller } from "../../../test/call.ts";
import { openGuard, testPrincipal } from "../../../test/principal.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { createTraceApp } from "../../trace-app.ts";
import { deleteViewsOfWorkspace, insertView } from "./sql.ts";
import { MAX_VIEWS, type ViewCreate } from "./schema.ts";

const OTHER = { "x-test-workspace": "00000000-0000-7000-8000-000000000002" };

const { call, sql, platform } = await testTracePlatform();
const { json: project } = await call("POST", "/sessions", { name: "viewed" });
const path = `/sessions/${project.id}/views`;

/** A caller of the workspace: an editor, or with the role of a viewer. */
function person(role: "editor" | "viewer" = "editor", kind: "session" | "api_key" = "session") {
  const id = randomUUID();
  const permissions = ALL_PERMISSIONS.filter((permission) => role === "editor" || isReading(permission));
  const actor = { kind, id, name: role, userId: id };
  const principal = { ...testPrincipal(undefined, permissions), actor };
  return createCaller(
    createTraceApp(platform.deps, { ...openGuard, authenticator: { authenticate: () => principal } }),
  );
}

const FULL = {
  display_name: "dear and failed",
  description: "what to look at first",
  type: "runs",
  filter_string: 'and(gt(total_cost, 0.05), eq(status, "error"))',
  trace_filter_string: 'eq(name, "agent")',
  tree_filter_string: 'eq(run_type, "tool")',
  start_time: "2026-01-01T00:00:00.000001Z",
  end_time: "2026-02-01T00:00:00.000000Z",
  duration: "7d",
  list: {
    query: "timeout",
    is_root: true,
    run_type: null,
    order_by: "total_cost",
    order: "desc",
    columns: ["name", "cost", "latency"],
  },
};

test("a view is saved with all its fields, listed, changed, renamed and deleted, under all paths", async () => {
  const made = await call("POST", `/api/v1${path}`, FULL);
  expect(made).toMatchObject({ status: 200, json: { ...FULL, session_id: project.id, is_shared: true } });
  const { id } = made.json;
  for (const prefix of ["", "/v1", "/api"])
    expect((await call("GET", `${prefix}${path}/${id}`)).json).toEqual(made.json);
  const threads = await call("POST", path, { display_name: "Another", type: "threads" });
  expect((await call("GET", path)).json.map((view: { id: string }) => view.id)).toEqual([threads.json.id, id]);
  expect((await call("GET", `${path}?type=threads`)).json).toEqual([threads.json]);

  const changed = await call("PATCH", `${path}/${id}`, { duration: null, filter_string: 'eq(name, "b")', type: null });
  expect(changed.json).toMatchObject({ ...FULL, duration: null, filter_string: 'eq(name, "b")' });
  const renamed = await call("PATCH", `${path}/${id}/rename`, { display_name: "other" });
  expect(renamed.json).toMatchObject({ display_name: "other", description: FULL.description });
  expect((await call("PATCH", `${path}/${id}/rename`, { description: "no name" })).status).toBe(422);

  expect((await call("DELETE", `${path}/${id}`)).status).toBe(200);
  expect((await call("GET", `${path}/${id}`)).status).toBe(404);
  expect((await call("DELETE", `${path}/${id}`)).status).toBe(404);
});

test("a view that no list can show is rejected by name", async () => {
  const wrong = [
    { filter_string: "gt(latency" },
    { tree_filter_string: "eq(nothing, 1)" },
    { type: "pies" },
    { start_time: "yesterday" },
    { display_name: " " },
    { list: { order_by: "colour" } },
    { list: { order_by: "feedback:" } },
    { list: { columns: Array.from({ length: 201 }, String) } },
    { list: { unknown: 1 } },
    { duration: "x".repeat(65) },
  ];
  for (const body of wrong) {
    const { status, text } = await call("POST", path, { ...FULL, ...body });
    expect({ body, status }).toEqual({ body, status: 422 });
    expect(text).toContain(Object.keys(body)[0]);
  }
  expect((await call("POST", `/sessions/${randomUUID()}/views`, FULL)).status).toBe(404);
  expect((await call("POST", path, FULL, OTHER)).status).toBe(404);
});

test("views of one's own are seen by their owner alone, and shared ones changed by those who may", async () => {
  const [ann, bob, viewer, key] = [person(), person(), person("viewer"), person("viewer", "api_key")];
  const id = randomUUID();
  const own = await ann("POST", path, { id, display_name: "mine", is_shared: false });
  expect(own).toMatchObject({ status: 200, json: { id, is_mine: true, is_shared: false } });
  expect((await ann("POST", path, { id, display_name: "mine", is_shared: false })).status).toBe(409);
  for (const stranger of [bob, viewer]) {
    expect((await stranger("GET", `${path}/${id}`)).status).toBe(404);
    expect((await stranger("PATCH", `${path}/${id}`, { display_name: "x" })).status).toBe(404);
    expect((await stranger("DELETE", `${path}/${id}`)).status).toBe(404);
    expect((await stranger("GET", path)).text).not.toContain(id);
  }
  expect((await ann("PATCH", `${path}/${id}`, { is_shared: true })).status).toBe(200);
  expect((await bob("GET", `${path}/${id}`)).json).toMatchObject({ is_mine: false, is_shared: true });
  expect((await bob("PATCH", `${path}/${id}`, { display_name: "ours" })).json.display_name).toBe("ours");
  expect((await bob("PATCH", `${path}/${id}`, { is_shared: false })).status).toBe(403);
  const { updated_at: known } = (await ann("GET", `${path}/${id}`)).json;
  expect((await bob("PATCH", `${path}/${id}`, { duration: "7d", if_updated_at: known })).status).toBe(200);
  const late = await ann("PATCH", `${path}/${id}`, { duration: "1d", if_updated_at: known });
  expect([late.status, late.text]).toEqual([409, expect.stringContaining("changed since you opened it")]);
  expect((await ann("PATCH", `${path}/${id}`, { is_default: true, if_updated_at: known })).json.duration).toBe("7d");
  expect((await viewer("PATCH", `${path}/${id}`, { display_name: "x" })).status).toBe(403);
  expect((await viewer("DELETE", `${path}/${id}`)).status).toBe(403);
  expect((await viewer("POST", path, { display_name: "x" })).status).toBe(403);
  const viewers = await viewer("POST", path, { display_name: "a viewer's", is_shared: false });
  expect(viewers.status).toBe(200);
  expect((await viewer("PATCH", `${path}/${viewers.json.id}`, { is_shared: true })).status).toBe(403);
  expect((await key("POST", path, { display_name: "x", is_shared: false })).status).toBe(403);
});

test("each person opens a project with a view of theirs; views of all projects are in every project", async () => {
  const [ann, bob] = [person(), person("viewer")];
  const first = (await ann("POST", path, { display_name: "first" })).json.id;
  const everywhere = (await ann("POST", path, { display_name: "second", all_projects: true })).json;
  expect(everywhere.session_id).toBeNull();
  const defaults = async (as: typeof ann, at = path) =>
    (await as("GET", at)).json
      .filter((view: { is_default: boolean }) => view.is_default)
      .map((view: { id: string }) => view.id);
  await ann("PATCH", `${path}/${first}`, { is_default: true });
  await bob("PATCH", `${path}/${everywhere.id}`, { is_default: true });
  await ann("PATCH", `${path}/${everywhere.id}`, { is_default: true });
  expect([await defaults(ann), await defaults(bob)]).toEqual([[everywhere.id], [everywhere.id]]);
  await ann("PATCH", `${path}/${everywhere.id}`, { is_default: false });
  expect([await defaults(ann), await defaults(bob)]).toEqual([[], [everywhere.id]]);
  const { json: second } = await call("POST", "/sessions", { name: "viewed too" });
  expect((await ann("GET", `/sessions/${second.id}/views`)).json).toMatchObject([
    { id: everywhere.id, is_default: false },
  ]);

  const { json: third } = await call("POST", "/sessions", { name: "viewed and deleted" });
  await call("POST", `/sessions/${third.id}/views`, FULL);
  expect((await call("DELETE", `/sessions/${third.id}`)).status).toBe(200);
  expect(await sql`select 1 from saved_views where session_id = ${third.id}`).toHaveLength(0);
});

test("a project has a bounded number of views, also when they are saved at the same time", async () => {
  const tenantId = OTHER["x-test-workspace"];
  const { json: full } = await call("POST", "/sessions", { name: "full" }, OTHER);
  const viewer = { tenantId, personId: "" };
  const body: ViewCreate = { display_name: "x", type: "runs", is_shared: true };
  await Promise.all(Array.from({ length: MAX_VIEWS - 1 }, () => insertView(sql, viewer, full.id, randomUUID(), body)));
  const answers = await Promise.all(
    Array.from({ length: 3 }, () => call("POST", `/sessions/${full.id}/views`, body, OTHER)),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 422, 422]);
  await sql.begin((tx) => deleteViewsOfWorkspace(tx, tenantId));
  expect((await call("GET", `/sessions/${full.id}/views`, undefined, OTHER)).json).toEqual([]);
});
