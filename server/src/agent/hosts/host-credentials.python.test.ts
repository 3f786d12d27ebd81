/** The process that runs Python graphs has no credentials of the database, although its runs have checkpoints. */
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { testDatabase } from "../../../test/db.ts";

const PROJECT = fileURLToPath(new URL("../../../test/fixtures/python-credentials/langgraph.json", import.meta.url));

test("neither the environment nor the memory of a Python host contains the database's address", async () => {
  const db = await testDatabase();
  const variables = { DATABASE_URI: db.uri, HEDDLE_DEPLOYMENT_DATABASE_URI: db.uri, PGPASSWORD: "of the server" };
  const before = Object.fromEntries(Object.keys(variables).map((name) => [name, process.env[name]]));
  Object.assign(process.env, variables);
  try {
    const { call } = await testAgentServer({ HEDDLE_PYTHON: process.env["HEDDLE_PYTHON"]! }, PROJECT, { db });
    const { json: thread } = await call("POST", "/threads", {});
    const input = { name: "canary" };
    const { json } = await call("POST", `/threads/${thread.thread_id}/runs/wait`, { assistant_id: "look", input });
    expect(json).toEqual({ name: "canary", found: ["postgres://visitor:canary@nowhere"], project: "of the project" });
    const { json: history } = await call("POST", `/threads/${thread.thread_id}/history`, {});
    expect(history).toHaveLength(3);
  } finally {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}, 120_000);
