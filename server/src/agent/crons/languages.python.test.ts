/** Crons of a project with graphs in both languages. */
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";

const PROJECT = fileURLToPath(new URL("../../../test/fixtures/remote-graphs/langgraph.json", import.meta.url));

test("a cron cannot be made for a thread that a graph in the other language has written", async () => {
  const { call } = await testAgentServer({ HEDDLE_PYTHON: process.env["HEDDLE_PYTHON"]! }, PROJECT);
  const thread = (await call("POST", "/threads", {})).json.thread_id as string;
  await call("POST", `/threads/${thread}/runs/wait`, { assistant_id: "asks-js", input: {} });
  const create = (assistant_id: string) =>
    call("POST", `/threads/${thread}/runs/crons`, { schedule: "0 0 1 1 *", assistant_id, input: {} });
  const rejected = { status: 422, text: expect.stringContaining("was written by a JavaScript graph") };
  expect(await create("asks-py")).toMatchObject(rejected);
  const { cron_id } = (await create("asks-js")).json;
  const change = (assistant_id: string) => call("PATCH", `/runs/crons/${cron_id}`, { assistant_id });
  expect(await change("asks-py")).toMatchObject(rejected);
  expect(await change("parent-js")).toMatchObject({ status: 200 });
});
