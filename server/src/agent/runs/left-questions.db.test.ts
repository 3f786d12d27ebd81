/** The result of an interrupted run contains its questions, on every server and at any later time. */
import { expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { testDatabase } from "../../../test/db.ts";

const db = await testDatabase();
const [one, other] = [await testAgentServer({}, undefined, { db }), await testAgentServer({}, undefined, { db })];
// asks in one branch, and another branch ends after that
const body = { assistant_id: "branches", input: { topic: "tea" } };
const questions = [{ id: expect.any(String), value: { about: "tea" } }];

test("a run that asks in one branch and ends in another has its questions in each result", async () => {
  const { json: thread } = await one.call("POST", "/threads", {});
  const path = `/threads/${thread.thread_id}/runs`;
  const waited = (await one.call("POST", `${path}/wait`, body)).json;
  expect(waited).toMatchObject({ topic: "tea", __interrupt__: questions });
  const { json: runs } = await one.call("GET", path);
  const join = `${path}/${runs[0].run_id}/join`;
  expect((await one.call("GET", join)).json.__interrupt__).toEqual(waited.__interrupt__);
  expect((await other.call("GET", join)).json).toMatchObject({ topic: "tea", __interrupt__: waited.__interrupt__ });

  const resumed = { assistant_id: "branches", command: { resume: "yes" } };
  const answered = (await one.call("POST", `${path}/wait`, resumed)).json;
  expect(answered).toEqual({ topic: "tea", log: ["beside", "answer:yes"] });
  // the question is answered: a server that reads the thread's values finds none
  const third = await testAgentServer({}, undefined, { db });
  expect((await third.call("GET", join)).json).toEqual(answered);
});

test("a server that follows the run of another one returns its questions, too", async () => {
  const { json: thread } = await one.call("POST", "/threads", {});
  const { json: run } = await one.call("POST", `/threads/${thread.thread_id}/runs`, body);
  const { json: output } = await other.call("GET", `/threads/${thread.thread_id}/runs/${run.run_id}/join`);
  expect(output.__interrupt__).toEqual(questions);
});

test("a stateless run has its questions in its result", async () => {
  const { json: output } = await one.call("POST", "/runs/wait", { ...body, on_completion: "keep" });
  expect(output).toMatchObject({ __interrupt__: questions });
});
