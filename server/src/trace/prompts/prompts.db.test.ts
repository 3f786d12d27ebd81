import { expect, test } from "vitest";

import { WORKSPACE } from "../../../test/principal.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";

const { call } = await testTracePlatform();
test("a prompt is created, committed to, tagged, pulled, forked and deleted", async () => {
  const created = await call("POST", "/api/v1/repos/", { repo_handle: "greeting", is_public: false, tags: ["a"] });
  expect(created.json).toMatchObject({ repo: { repo_handle: "greeting", tenant_id: WORKSPACE } });
  expect((await call("GET", "/commits/-/greeting/latest")).json).toEqual({
    error: expect.stringContaining("no commits"),
  });
  const commit = await call("POST", "/commits/-/greeting", '{"manifest": {"b":1.0, "a":"\\u0000"} }');
  expect([commit.status, commit.json]).toEqual([201, { commit: expect.objectContaining({ parent_id: null }) }]);
  const pulled = await call("GET", "/commits/-/greeting/latest");
  expect(pulled.text).toContain('"manifest":{"b":1.0, "a":"\\u0000"}');
  const id = commit.json.commit.id;
  expect((await call("POST", "/repos/-/greeting/tags", { tag_name: "production", commit_id: id })).json).toMatchObject({
    commit_id: id,
  });
  expect((await call("GET", "/commits/-/greeting/production")).text).toBe(pulled.text);
  expect((await call("GET", "/commits/-/greeting/" + pulled.json.commit_hash.slice(0, 8))).text).toBe(pulled.text);
});
