import { randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import { createCaller } from "../../../test/call.ts";
import { openGuard, testPrincipal } from "../../../test/principal.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { createTraceApp } from "../../trace-app.ts";
import { ALL_PERMISSIONS } from "../../base/auth/permissions.ts";
import { deleteResourceTagsOfWorkspace, deleteStaleTaggings } from "./sql.ts";

const OTHER = { "x-test-workspace": "00000000-0000-7000-8000-000000000002" };
const KEYS = "/workspaces/current/tag-keys";
const TAGGINGS = "/workspaces/current/taggings";

const { call, sql, platform } = await testTracePlatform();

async function makeTag(key: string, ...values: string[]): Promise<{ key: { id: string }; values: string[] }> {
  const made = await call("POST", KEYS, { key });
  const ids: string[] = [];
  for (const value of values) ids.push((await call("POST", `${KEYS}/${made.json.id}/tag-values`, { value })).json.id);
  return { key: made.json, values: ids };
}
const create = async (path: string, body: object) => {
  const { status, json } = await call("POST", path, body);
  expect(status).toBeLessThan(300);
  return json;
};
const give = (tag_value_id: string, resource_type: string, resource_id: string) =>
  call("POST", TAGGINGS, { tag_value_id, resource_type, resource_id });

test("keys and values are created, listed in order, changed and deleted, under all paths", async () => {
  const { key, values } = await makeTag("Environment", "staging", "Production");
  expect(key).toMatchObject({ key: "Environment", description: null, created_at: expect.stringMatching(/Z$/) });
  await makeTag("application");
  for (const prefix of ["", "/v1", "/api/v1"])
    expect((await call("GET", `${prefix}${KEYS}`)).json.map((item: { key: string }) => item.key)).toEqual([
      "application",
      "Environment",
    ]);
  const path = `${KEYS}/${key.id}`;
  expect((await call("GET", `${path}/tag-values`)).json.map((item: { value: string }) => item.value)).toEqual([
    "Production",
    "staging",
  ]);
  expect((await call("GET", "/workspaces/current/tags")).json).toMatchObject([
    { key: "application", values: [] },
    { key: "Environment", values: [{ value: "Production" }, { value: "staging" }] },
  ]);
  const changed = await call("PATCH", path, { description: "where", key: null });
  expect(changed.json).toMatchObject({ key: "Environment", description: "where" });
  expect((await call("PATCH", path, { description: null })).json.description).toBeNull();
  const value = `${path}/tag-values/${values[0]}`;
  expect((await call("PATCH", value, { value: "test" })).json).toMatchObject({ value: "test", tag_key_id: key.id });
  expect((await call("PATCH", value, { value: "Production" })).status).toBe(409);
  expect((await call("POST", KEYS, { key: "Environment" })).status).toBe(409);
  for (const body of [{}, { key: " " }, { key: "x".repeat(256) }, { key: 1 }])
    expect((await call("POST", KEYS, body)).status).toBe(422);
  expect((await call("DELETE", value)).status).toBe(200);
  expect((await call("GET", value)).status).toBe(404);
  expect((await call("DELETE", path)).status).toBe(200);
  for (const method of ["GET", "DELETE", "PATCH"] as const)
    expect((await call(method, path, method === "PATCH" ? {} : undefined)).status).toBe(404);
  expect((await call("GET", `${path}/tag-values`)).status).toBe(404);
});

test("each kind of resource is tagged, found by its tags, and forgotten when it is gone", async () => {
  const { key, values } = await makeTag("team", "search", "support");
  const [search, support] = values as [string, string];
  const { values: stages } = await makeTag("stage", "live");
  const dataset = await create("/datasets", { name: "tagged", tag_value_ids: [search] });
  const project = await create("/sessions", { name: "tagged", tag_value_ids: [support, stages[0], support] });
  const experiment = await create("/sessions", { name: "tried", reference_dataset_id: dataset.id });
  const { repo } = await create("/repos", { repo_handle: "tagged", is_public: false });
  const queue = await create("/annotation-queues", { name: "tagged" });
  const section = await create("/charts/section", { title: "tagged" });
  const evaluator = await create("/v1/platform/evaluators", {
    name: "tagged",
    type: "code",
    code_evaluator: { language: "javascript", code: "function performEval() { return 1 }" },
  });
  type Item = { id: string };
  const lists: [string, string, string, (json: never) => Item[]][] = [
    ["prompt", repo.id, "/repos", (json: Record<string, Item[]>) => json["repos"]!],
    ["queue", queue.id, "/annotation-queues", (json: Item[]) => json],
    ["dashboard", section.id, "/charts/section", (json: Item[]) => json],
    [
      "evaluator",
      evaluator.evaluator.id,
      "/v1/platform/evaluators",
      (json: Record<string, Item[]>) => json["evaluators"]!,
    ],
    ["experiment", experiment.id, "/sessions", (json: Item[]) => json],
    ["dataset", dataset.id, "/datasets", (json: Item[]) => json],
  ];
  for (const [type, id, path, items] of lists) {
    expect([type, await give(search, type, id)]).toMatchObject([type, { status: 200 }]);
    // the same again is the same
    expect((await give(search, type, id)).json).toEqual((await give(search, type, id)).json);
    const found = async (...ids: string[]) =>
      items((await call("GET", `${path}?${ids.map((each) => `tag_value_id=${each}`).join("&")}`)).json as never).map(
        (item: { id: string }) => item.id,
      );
    expect([type, await found(search)]).toEqual([type, [id]]);
    // any value of a key, and all keys
    expect(await found(search, support)).toContain(id);
    expect(await found(search, stages[0]!)).toEqual([]);
    expect(await found(randomUUID())).toEqual([]);
  }
  const of = await call("GET", `/workspaces/current/tags/resource?resource_type=project&resource_id=${project.id}`);
  expect(of.json).toMatchObject([
    { key: "stage", values: [{ value: "live", taggings: [{ resource_id: project.id, resource_type: "project" }] }] },
    { key: "team", id: key.id, values: [{ value: "support" }] },
  ]);
  const many = await call("POST", "/workspaces/current/tags/resources", [
    { resource_type: "project", resource_id: project.id },
    { resource_type: "dataset", resource_id: dataset.id },
    { resource_type: "prompt", resource_id: dataset.id },
    { resource_type: "queue", resource_id: section.id },
  ]);
  expect(many.json).toMatchObject({ [project.id]: of.json, [dataset.id]: [{ key: "team" }], [section.id]: [] });
  const [tagged] = (await call("GET", `${TAGGINGS}?tag_value_id=${search}`)).json;
  expect(tagged).toMatchObject({ tag_key: "team", tag_value: "search", tag_value_id: search });
  expect(Object.keys(tagged.resources).toSorted()).toEqual(
    ["dashboards", "datasets", "evaluators", "experiments", "prompts", "queues"].toSorted(),
  );
  expect(tagged.resources.prompts).toMatchObject([{ resource_id: repo.id, resource_name: "tagged" }]);

  await call("DELETE", `/datasets/${dataset.id}`);
  const [after] = (await call("GET", `${TAGGINGS}?tag_value_id=${search}`)).json;
  expect(after.resources.datasets).toBeUndefined();
  expect(await deleteStaleTaggings(sql, 100)).toBeGreaterThan(0);
  expect(await deleteStaleTaggings(sql, 100)).toBe(0);
  const { tagging_id } = after.resources.queues[0];
  expect((await call("DELETE", `${TAGGINGS}/${tagging_id}`)).status).toBe(200);
  expect((await call("DELETE", `${TAGGINGS}/${tagging_id}`)).status).toBe(404);
  expect((await call("DELETE", `${KEYS}/${key.id}`)).status).toBe(200);
  expect((await call("GET", `/repos?tag_value_id=${search}`)).json.repos).toEqual([]);
});

test("what does not exist, is another's or is not supported cannot be tagged", async () => {
  const { values } = await makeTag("refused", "yes");
  const project = await create("/sessions", { name: "refused" });
  expect((await give(values[0]!, "project", randomUUID())).status).toBe(404);
  expect((await give(randomUUID(), "project", project.id)).status).toBe(404);
  expect((await give(values[0]!, "dataset", project.id)).status).toBe(404);
  for (const type of ["deployment", "mcp_server", "sandbox", "fleet_integration"]) {
    const { status, text } = await give(values[0]!, type, project.id);
    expect([status, text]).toEqual([422, expect.stringContaining(`\\"${type}\\" are not supported`)]);
  }
  expect((await give(values[0]!, "cat", project.id)).status).toBe(422);
  const body = { tag_value_id: values[0], resource_type: "project", resource_id: project.id };
  expect((await call("POST", TAGGINGS, body, OTHER)).status).toBe(404);
  expect((await call("GET", KEYS, undefined, OTHER)).json).toEqual([]);
  // nothing is created with a tag that does not exist
  for (const path of ["/sessions", "/datasets"]) {
    expect((await call("POST", path, { name: "half", tag_value_ids: [randomUUID()] })).status).toBe(404);
    expect((await call("GET", `${path}?name=half`)).json).toEqual([]);
  }
  const reader = {
    ...testPrincipal(
      undefined,
      ALL_PERMISSIONS.filter((each) => each.endsWith(":read")),
    ),
  };
  const read = createCaller(
    createTraceApp(platform.deps, { ...openGuard, authenticator: { authenticate: () => reader } }),
  );
  expect((await read("POST", TAGGINGS, body)).status).toBe(403);
  const { json } = await give(values[0]!, "project", project.id);
  expect((await read("DELETE", `${TAGGINGS}/${json.id}`)).status).toBe(403);
  expect((await read("POST", KEYS, { key: "k" })).status).toBe(403);
  expect((await read("GET", TAGGINGS)).status).toBe(200);
});

test("erasing a workspace deletes its tags", async () => {
  const tenant = testPrincipal().workspaceId;
  const { values } = await makeTag("erased", "v");
  const project = await create("/sessions", { name: "erased", tag_value_ids: values });
  expect(project.id).toBeDefined();
  await sql.begin((tx) => deleteResourceTagsOfWorkspace(tx, tenant));
  for (const table of ["resource_tag_keys", "resource_tag_values", "resource_taggings"])
    expect(await sql`select from ${sql(table)} where tenant_id = ${tenant}`).toHaveLength(0);
});
