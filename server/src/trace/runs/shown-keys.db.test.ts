/** What lists have shown is found sooner, and nothing that was deleted or came later is missed. */
import { afterEach, expect, test, vi } from "vitest";

import { ingestClient, sampleRun as attached } from "../../../test/ingest-client.ts";
import { sampleRun, type SampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { uuid7 } from "../../base/ids.ts";

const platform = await testTracePlatform();
const { call, clickhouse } = platform;
const TENANT = "00000000-0000-7000-8000-000000000001";

const asked = vi.spyOn(clickhouse.client, "query");
afterEach(() => asked.mockClear());
const statements = () => asked.mock.calls.map(([{ query }]) => /^\/\* (\S+)/.exec(query)?.[1]);

const projectId = (name: string) => platform.platform.deps.projects.ensureProject(TENANT, name);
const list = async (session: string, more: object = {}): Promise<string[]> =>
  (await call("POST", "/runs/query", { session: [session], ...more })).json.runs.map((run: SampleRun) => run.id);

test("a run that a list has shown is read without a search for it, until its trace is deleted", async () => {
  const [run, other] = [sampleRun("shown"), sampleRun("shown")];
  await sendRuns(call, [run, other]);
  const session = await projectId("shown");
  const before = (await call("GET", `/runs/${run.id}`)).json;
  expect(statements()).toContain("run_keys.find");
  expect(await list(session)).toHaveLength(2);
  asked.mockClear();

  const after = await call("GET", `/runs/${run.id}`);
  expect(after.json).toEqual(before);
  expect(statements()).not.toContain("run_keys.find");
  expect((await call("GET", `/runs/${run.id}?session_id=${uuid7()}`)).status).toBe(404);

  await call("POST", "/runs/delete", { session_id: session, trace_ids: [run.id] });
  expect((await call("GET", `/runs/${run.id}`)).status).toBe(404);
  expect((await call("GET", `/runs/${other.id}`)).status).toBe(200);
});

test("another workspace does not see a run that a list has shown", async () => {
  const run = sampleRun("mine");
  await sendRuns(call, [run]);
  await list(await projectId("mine"));
  const other = { "x-test-workspace": "00000000-0000-7000-8000-000000000002" };
  expect((await call("GET", `/runs/${run.id}`, undefined, other)).status).toBe(404);
});

test("the attachments of a workspace's first run that has some are found", async () => {
  const { send } = ingestClient(platform);
  const post = (id: string) => ({ name: `post.${id}`, content: JSON.stringify(attached(id)) });
  const [bare, withFile] = [uuid7(), uuid7()];
  await send([post(bare)]);
  expect((await call("GET", `/runs/${bare}`)).json.s3_urls).toBeNull();
  await send([post(withFile), { name: `attachment.${withFile}.note`, content: "text", type: "text/plain" }]);
  expect(Object.keys((await call("GET", `/runs/${withFile}`)).json.s3_urls)).toEqual(["attachment.note"]);
});

test("in a large store, a trace whose root was shown is whole, with runs that start long before its root", async () => {
  // a part has two granules at least
  await clickhouse.command({ name: "test", query: "system stop merges runs" });
  const root = sampleRun("large", {}, { seconds: 7200 });
  // the order is checked, the times of machines are not
  const early = { ...sampleRun("large", {}, { parent: root }), start_time: "2026-01-01T00:00:00.000000Z" };
  const child = sampleRun("large", {}, { parent: root, seconds: 7201 });
  await sendRuns(call, [root, child]);
  for (let n = 0; n < 110; n++) await sendRuns(call, [sampleRun("other")]);
  const session = await projectId("large");
  const read = () => list(session, { trace: root.id, order: "asc" });
  expect(await list(session, { is_root: true })).toEqual([root.id]);

  expect(await read()).toEqual([root.id, child.id]);
  expect(statements()).toContain("runs.before_root");
  await sendRuns(call, [early]);
  expect(await read()).toEqual([early.id, root.id, child.id]);
  const [row] = await clickhouse.rows<{ granules: number }>({
    name: "test",
    query: "select sum(marks) as granules from system.parts where active and table = 'runs'",
  });
  expect(row!.granules).toBeGreaterThan(200);
});
