import { randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import type { Call } from "../../../test/call.ts";
import { testDatabase } from "../../../test/db.ts";
import { testGuard, testWorkspace } from "../../../test/identity.ts";
import { testPerson } from "../../../test/people.ts";
import { sampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { insertWorkspaceMember } from "../../identity/members/sql.ts";
import { insertRole } from "../../identity/roles/sql.ts";
import { insertWorkspace } from "../../identity/workspaces/sql.ts";

const db = await testDatabase();
const one = await testWorkspace(db, "one");
const foreign = await testWorkspace(db, "foreign");
const second = randomUUID();
await insertWorkspace(db.sql, {
  id: second,
  organization_id: one.organizationId,
  display_name: "Workspace two",
  tenant_handle: null,
  plan: "enterprise",
  is_default: false,
});
const { call } = await testTracePlatform({}, { db, guard: await testGuard(db) });
const admin = await testPerson(db, one, "admin", { organization: "ORGANIZATION_ADMIN" });
const member = await testPerson(db, one, "member", { workspace: "WORKSPACE_ADMIN" });
const as =
  (key: string, workspace = one.workspaceId): Call =>
  (method, path, body) =>
    call(method, path, body, { "x-api-key": key, "x-tenant-id": workspace });

const START = Date.now() - 600_000;
const runs = (n: number, seconds: number) =>
  Array.from({ length: n }, (_, i) =>
    sampleRun("shop", { start_time: new Date(START + i).toISOString().replace("Z", "000Z") }, { seconds }),
  );
await sendRuns(as(admin.key), runs(2, 1));
await sendRuns(as(admin.key, second), runs(3, 4));
await sendRuns(as(foreign.admin, foreign.workspaceId), runs(5, 9));

const bucket_info = { start_time: new Date(START - 3_600_000).toISOString(), stride: { days: 1 } };
const values = async (send: Call, path: string, body: object) => {
  const { status, json, text } = await send("POST", path, body);
  if (status !== 200) throw new Error(`${status} ${text}`);
  const data = (json.data ?? json.charts[0].data) as { group: string | null; value: number | null }[];
  return data.filter(({ value }) => value).map(({ group, value }) => [group, value]);
};
const preview = (send: Call, series: object) =>
  values(send, "/api/v1/org-charts/preview", { bucket_info, chart: { series: [{ id: "s", name: "s", ...series }] } });

test("adds up counts over the workspaces that the reader may read, and shows percentiles of each", async () => {
  expect(await preview(as(admin.key), { metric: "run_count" })).toEqual([[null, 5]]);
  expect(await preview(as(member.key), { metric: "run_count" })).toEqual([[null, 2]]);
  expect(await preview(as(admin.key), { metric: "latency_p50" })).toEqual([
    ["Workspace one", 1],
    ["Workspace two", 4],
  ]);
  expect(await preview(as(admin.key), { metric: "latency_p50", workspace_id: second })).toEqual([[null, 4]]);
});

test("administrators keep dashboards of the organization; members see them with their own workspaces' data", async () => {
  const { json: section } = await as(admin.key)("POST", "/api/v1/org-charts/section", { title: "All" });
  const chart = {
    title: "Runs",
    chart_type: "bar",
    section_id: section.id,
    series: [{ name: "Runs", metric: "run_count" }],
  };
  expect((await as(admin.key)("POST", "/api/v1/org-charts/create", chart)).status).toBe(200);
  expect((await as(member.key)("POST", "/api/v1/org-charts/create", chart)).status).toBe(403);
  const path = `/api/v1/org-charts/section/${section.id}`;
  expect(await values(as(admin.key, second), path, bucket_info)).toEqual([[null, 5]]);
  expect(await values(as(member.key), path, bucket_info)).toEqual([[null, 2]]);
  expect((await as(foreign.admin, foreign.workspaceId)("POST", path, {})).status).toBe(404);
  // they are not dashboards of a workspace
  expect((await as(admin.key)("GET", "/api/v1/charts/section")).json).toEqual([]);
  expect((await as(admin.key)("GET", "/api/v1/org-charts/section")).json).toHaveLength(1);
  expect((await as(admin.key)("DELETE", path)).status).toBe(200);
});

test("rejects metrics of feedback and workspaces that the caller may not read", async () => {
  const create = (series: object) =>
    as(admin.key)("POST", "/api/v1/org-charts/create", {
      title: "t",
      chart_type: "line",
      series: [{ name: "s", ...series }],
    });
  expect((await create({ metric: "feedback_count" })).status).toBe(422);
  expect((await create({ metric: "run_count", workspace_id: foreign.workspaceId })).status).toBe(422);
});

test("a filter or grouping of the reader's own shows only workspaces whose runs the reader may view", async () => {
  const { json: section } = await as(admin.key)("POST", "/api/v1/org-charts/section", { title: "Filtered" });
  const chart = {
    title: "Runs",
    chart_type: "bar",
    section_id: section.id,
    series: [{ name: "Runs", metric: "run_count" }],
  };
  expect((await as(admin.key)("POST", "/api/v1/org-charts/create", chart)).status).toBe(200);
  const permissions = ["charts:read"];
  const role_id = randomUUID();
  await insertRole(db.sql, one.organizationId, {
    id: role_id,
    display_name: "Charts",
    description: "",
    permissions,
    access_scope: "workspace",
  });
  await insertWorkspaceMember(db.sql, {
    id: randomUUID(),
    user_id: member.userId,
    workspace_id: second,
    role_id,
    read_only: false,
  });
  const path = `/api/v1/org-charts/section/${section.id}`;
  expect(await values(as(member.key), path, bucket_info)).toEqual([[null, 5]]);
  const filter = { common_filters: { filter: 'eq(name, "sample")' } };
  expect(await values(as(member.key), path, { ...bucket_info, ...filter })).toEqual([[null, 2]]);
  expect(await values(as(member.key), path, { ...bucket_info, group_by: { attribute: "name" } })).toEqual([
    ["sample", 2],
  ]);
  expect(await values(as(admin.key), path, { ...bucket_info, ...filter })).toEqual([[null, 5]]);
});
