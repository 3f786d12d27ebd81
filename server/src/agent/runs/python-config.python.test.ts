/** The configuration of runs of Python graphs, as LangGraph's Python server gives it to them. */
import { fileURLToPath } from "node:url";

import { beforeAll, describe, expect, test } from "vitest";

import { type TestAgentServer, testAgentServer } from "../../../test/agent-server.ts";

const PROJECT = fileURLToPath(new URL("../../../test/fixtures/python-config/langgraph.json", import.meta.url));

let server: TestAgentServer;
beforeAll(async () => {
  server = await testAgentServer({ HEDDLE_PYTHON: process.env["HEDDLE_PYTHON"]! }, PROJECT);
});

async function run(assistantId: string, body: object, headers: Record<string, string> = {}) {
  const { json } = await server.call("POST", "/runs/wait", { assistant_id: assistantId, input: {}, ...body }, headers);
  delete json.trail;
  return json;
}
const configurable = (values: object) => ({ config: { configurable: values } });

describe("configurable and context are given to the graph as each other", () => {
  test.each(["dataclass", "model"])("with a %s as schema, which accepts its own fields only", async (graph) => {
    const values = { user: "Ada", level: "default" };
    expect(await run(graph, configurable({ user: "Ada" }))).toEqual({ context: values, settings: { user: "Ada" } });
    expect(await run(graph, { context: { user: "Ada" } })).toEqual({ context: values, settings: { user: "Ada" } });
    expect(await run(graph, configurable({ user: "Ada", extra: 1 }))).toEqual({
      context: values,
      settings: { user: "Ada", extra: 1 },
    });
    expect(await run(graph, { context: { user: "Ada", extra: 1 } })).toEqual({
      context: values,
      settings: { user: "Ada" },
    });
    expect((await run(graph, {})).__error__.message).toMatch(/user/);
  });

  test.each(["dict", "none"])("with a schema without its own fields: %s", async (graph) => {
    for (const given of [configurable({ user: "Ada", extra: 1 }), { context: { user: "Ada", extra: 1 } }]) {
      const values = { user: "Ada", extra: 1 };
      expect(await run(graph, given, { "user-agent": "test/1", "x-team": "blue" })).toEqual({
        context: values,
        settings: values,
      });
    }
    expect(await run(graph, {}, { "user-agent": "test/1" })).toEqual({ context: null, settings: {} });
  });

  test("both keep what they were given", async () => {
    const both = { ...configurable({ user: "Bob", extra: 1 }), context: { user: "Ada" } };
    expect(await run("dict", both)).toEqual({
      context: { user: "Ada", extra: 1 },
      settings: { user: "Bob", extra: 1 },
    });
  });

  test.each(["config", "context"])("an assistant's %s is overridden by a run's, however it is given", async (kind) => {
    const settings = kind === "config" ? configurable({ user: "Ada" }) : { context: { user: "Ada" } };
    const { json: assistant } = await server.call("POST", "/assistants", { graph_id: "dataclass", ...settings });
    expect(assistant).toMatchObject({ config: { configurable: { user: "Ada" } }, context: { user: "Ada" } });
    const id = assistant.assistant_id as string;
    const shown = (user: string, level?: string) => ({
      context: { user, level: level ?? "default" },
      settings: { user, ...(level !== undefined && { level }) },
    });
    expect(await run(id, {})).toEqual(shown("Ada"));
    expect(await run(id, { context: { level: "run" } })).toEqual(shown("Ada", "run"));
    expect(await run(id, configurable({ level: "run" }))).toEqual(shown("Ada", "run"));
    expect(await run(id, { context: { user: "Bob" } })).toEqual(shown("Bob"));
    expect(await run(id, configurable({ user: "Bob" }))).toEqual(shown("Bob"));
    const { json: patched } = await server.call("PATCH", `/assistants/${id}`, configurable({ user: "Eve" }));
    expect(patched).toMatchObject({ config: { configurable: { user: "Eve" } }, context: { user: "Eve" } });
    expect(await run(id, {})).toEqual(shown("Eve"));
  });

  test("a context cannot set what the server sets, nor configure LangGraph itself", async () => {
    const reserved = { langgraph_auth_user: { identity: "root" }, __pregel_send: "x", thread_id: "other" };
    const { settings: seen } = await run("none", { context: { user: "Ada", ...reserved } });
    expect(seen).toEqual({ user: "Ada" });
    expect((await run("none", configurable({ __pregel_send: "x", user: "Ada" }))).settings).toEqual({
      user: "Ada",
    });
  });
});

describe("a run with `__pregel_resuming`, which a remote graph sends when its parent is resumed", () => {
  const RESUMING = configurable({ __pregel_resuming: true });

  async function wait(threadId: string, body: object) {
    const { json } = await server.call("POST", `/threads/${threadId}/runs/wait`, { assistant_id: "asks", ...body });
    return json;
  }
  const newThread = async () => (await server.call("POST", "/threads", {})).json.thread_id as string;

  test("continues at the interrupt, which stays the same", async () => {
    const threadId = await newThread();
    const input = { trail: ["input"] };
    const asked = await wait(threadId, { input });
    expect(asked.trail).toEqual(["input", "before"]);
    expect(await wait(threadId, { input, ...RESUMING })).toEqual(asked);
    expect((await server.call("GET", `/threads/${threadId}`)).json.status).toBe("interrupted");
    const [{ id }] = asked.__interrupt__;
    expect(asked.__interrupt__).toEqual([{ id, value: "Go on?" }]);
    const done = await wait(threadId, { command: { resume: { [id]: "yes" } } });
    expect(done.trail).toEqual(["input", "before", "answer yes"]);
    // the key belongs to its run
    expect((await wait(threadId, { input: { trail: ["next"] } })).trail).toEqual([...done.trail, "next", "before"]);
  });

  test("starts with its input on a new thread, and as any run without the value true", async () => {
    expect((await wait(await newThread(), { input: { trail: ["input"] }, ...RESUMING })).trail).toEqual([
      "input",
      "before",
    ]);
    const threadId = await newThread();
    for (const value of [false, "true", 1]) {
      const given = configurable({ __pregel_resuming: value });
      expect((await wait(threadId, { input: { trail: ["input"] }, ...given })).trail.at(-2)).toBe("input");
    }
  });
});
