/**
 * A project with custom authentication, an HTTP app and UI components, used by two people with the official clients.
 */
import { Client as ClientV1 } from "langgraph-sdk-v1";
import { Client as ClientV2 } from "langgraph-sdk-v2";
import { afterAll, describe, expect, test } from "vitest";

import type { Client } from "./clients.ts";
import { startOwnProject } from "./server.ts";

const server = await startOwnProject("custom-project");
afterAll(() => server.stop());

const SDKS = [
  ["1.15.0", ClientV1],
  ["2.0.0", ClientV2],
] as const;

describe.each(SDKS)("over SDK %s", (version, Sdk) => {
  const as = (user: string | null, headers: Record<string, string> = {}) =>
    new Sdk({
      apiUrl: server.url,
      apiKey: null,
      callerOptions: { maxRetries: 0 },
      defaultHeaders: { ...(user && { authorization: `Bearer ${user}` }), ...headers },
    }) as unknown as Client;
  const [anna, ben] = [as(`anna-${version}`), as(`ben-${version}`)];
  const input = { messages: [{ role: "human", content: "hello" }] };

  test("rejects a request without a token", async () => {
    await expect(as(null).threads.search()).rejects.toThrow("HTTP 401: No token");
  });

  test("a thread and its runs are visible only to their owner", async () => {
    const thread = await anna.threads.create();
    const id = thread.thread_id;
    expect(thread.metadata).toMatchObject({ owner: `anna-${version}` });
    const run = await anna.runs.create(id, "slow", { input });
    expect((await anna.threads.search()).map((thread) => thread.thread_id)).toEqual([id]);
    expect(await ben.threads.search()).toEqual([]);
    const rejected: [string, () => Promise<unknown>][] = [
      ["get", () => ben.threads.get(id)],
      ["update", () => ben.threads.update(id, { metadata: { owner: `ben-${version}` } })],
      ["delete", () => ben.threads.delete(id)],
      ["getState", () => ben.threads.getState(id)],
      ["getHistory", () => ben.threads.getHistory(id)],
      ["runs.list", () => ben.runs.list(id)],
      ["runs.get", () => ben.runs.get(id, run.run_id)],
      ["runs.create", () => ben.runs.create(id, "agent", { input, ifNotExists: "create" })],
      ["runs.wait", () => ben.runs.wait(id, "agent", { input, multitaskStrategy: "rollback" })],
      ["runs.join", () => ben.runs.join(id, run.run_id)],
      ["runs.cancel", () => ben.runs.cancel(id, run.run_id)],
      ["runs.delete", () => ben.runs.delete(id, run.run_id)],
    ];
    for (const [, ask] of rejected) await expect(ask()).rejects.toThrow("HTTP 404");
    await expect(ben.threads.copy(id)).rejects.toThrow("HTTP 409");
    await expect(ben.threads.updateState(id, { values: {} })).rejects.toThrow("HTTP 404");
    const events = [];
    for await (const event of ben.runs.joinStream(id, run.run_id)) events.push(event);
    expect(events).toMatchObject([{ event: "error", data: { message: "404: Thread not found" } }]);
    await anna.runs.cancel(id, run.run_id, true);
    expect((await anna.runs.get(id, run.run_id)).status).toBe("interrupted");
  });

  test("a graph sees the user who runs it and the allowed headers", async () => {
    const anna2 = as(`anna-${version}`, { "x-one": "1", "x-private": "2" });
    const values = (await anna2.runs.wait(null, "agent", { input })) as { messages: { content: string }[] };
    expect(values.messages.at(-1)!.content).toBe(`anna-${version} of team blue, with x-one`);
  });

  test("assistants and crons are visible only to their owner", async () => {
    const mine = await anna.assistants.create({ graphId: "agent", name: "mine" });
    const cron = await anna.crons.create(mine.assistant_id, { schedule: "0 0 1 1 *", input });
    await expect(ben.assistants.get(mine.assistant_id)).rejects.toThrow("HTTP 404");
    await expect(ben.runs.wait(null, mine.assistant_id, { input })).rejects.toThrow("HTTP 404");
    await expect(ben.crons.delete((cron as unknown as { cron_id: string }).cron_id)).rejects.toThrow("HTTP 404");
    expect(await ben.assistants.search()).toEqual([]);
    expect(await ben.crons.search()).toEqual([]);
    expect((await anna.crons.search()).length).toBe(1);
  });

  test("store items are stored under the user's own namespace", async () => {
    await anna.store.putItem(["notes"], "one", { text: "anna's" });
    expect((await anna.store.getItem(["notes"], "one"))!.namespace).toEqual([`anna-${version}`, "notes"]);
    expect(await ben.store.getItem(["notes"], "one")).toBeNull();
    expect((await ben.store.searchItems([])).items).toEqual([]);
  });

  test("the client's getComponent loads UI components", async () => {
    const html = await anna["~ui"].getComponent("agent", "hello");
    expect(html).toContain(`__LGUI_agent.render("hello", "{{shadowRootId}}")`);
    const script = await fetch(/src="([^"]+)"/.exec(html)![1]!);
    expect([script.status, script.headers.get("content-type")]).toEqual([200, "text/javascript; charset=UTF-8"]);
  });
});

test("the project's app has its routes, wraps ours in its middleware, and its client needs no URL", async () => {
  const headers = { authorization: "Bearer anna" };
  const me = await fetch(`${server.url}/whoami`, { headers });
  expect([me.headers.get("x-served-by"), ((await me.json()) as { identity: string }).identity]).toEqual([
    "the project",
    "anna",
  ]);
  expect((await fetch(`${server.url}/whoami`)).status).toBe(401);
  expect((await fetch(`${server.url}/info`)).headers.get("x-served-by")).toBe("the project");
  const asked = (await (await fetch(`${server.url}/ask`, { method: "POST", headers })).json()) as {
    messages: { content: string }[];
  };
  expect(asked.messages[0]!.content).toContain("anna of team blue");
});

test("the OpenAPI document describes the project's own authentication", async () => {
  const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
    components: { securitySchemes: object };
    paths: Record<string, Record<string, { security: object[] }>>;
  };
  expect(document.components.securitySchemes).toEqual({ Token: { type: "http", scheme: "bearer" } });
  expect(document.paths["/threads"]!["post"]!.security).toEqual([{ Token: [] }]);
  expect(document.paths["/ok"]!["get"]!.security).toEqual([]);
});
