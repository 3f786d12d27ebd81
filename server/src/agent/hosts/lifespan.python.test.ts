/** Nodes find what the lifespan of the project's app opens. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { atEnd } from "../../../test/at-end.ts";

const PROJECT = fileURLToPath(new URL("../../../test/fixtures/python-lifespan/langgraph.json", import.meta.url));
const dir = mkdtempSync(join(tmpdir(), "heddle-lifespan-"));
atEnd(() => rmSync(dir, { recursive: true, force: true }));
let files = 0;

/** Starts a server whose code gets the variables. */
async function serve(env: Record<string, string> = {}, settings: Record<string, string> = {}) {
  const file = join(dir, String(files++));
  const variables: Record<string, string> = { LIFESPAN_FILE: file, ...env };
  Object.assign(process.env, variables);
  try {
    const server = await testAgentServer({ HEDDLE_PYTHON: process.env["HEDDLE_PYTHON"]!, ...settings }, PROJECT);
    const { json } = await server.call("POST", "/runs/wait", { assistant_id: "look", input: {} });
    // the host that takes runs, and the reserve, which gets the variables at its start
    await expect
      .poll(() => server.agent.deps.hosts.all.filter(({ state }) => state === "ready").length, { timeout: 60_000 })
      .toBe(2);
    return { server, json, file };
  } finally {
    for (const name of Object.keys(variables)) delete process.env[name];
  }
}

test("the lifespan runs in each process on the loop of its nodes, and ends as often as it begins", async () => {
  const { server, json, file } = await serve();
  expect(json).toEqual({ has_lock: true, same_loop: true, locked: true, same_module: true });
  await server.stop();
  const events = readFileSync(file, "utf8").trim().split("\n");
  const of = (kind: string) => events.filter((event) => event.startsWith(kind)).map((event) => event.split(" ")[1]);
  // two hosts and the process of the app
  expect(new Set(of("enter")).size).toBe(3);
  expect(of("exit").toSorted()).toEqual(of("enter").toSorted());
}, 120_000);

test("a failing lifespan rejects the start with its error", async () => {
  await expect(serve({ LIFESPAN_FAILS: "yes" })).rejects.toThrow(
    /http\.app: [^]*the database of the app is unavailable/,
  );
});

test("HEDDLE_HOST_LIFESPAN=false leaves it to the process of the app", async () => {
  const { server, json } = await serve({}, { HEDDLE_HOST_LIFESPAN: "false" });
  expect(json).toEqual({ has_lock: false });
  await server.stop();
}, 120_000);
