/** What each Python project of the corpus must do when a JavaScript client drives it. */
import assert from "node:assert/strict";

import {
  allowsOrigin,
  type Check,
  hasProperties,
  keepsConversation,
  type Message,
  say,
  separatesUsers,
  text,
  usesTool,
} from "./checks.ts";

export const PYTHON_CHECKS: Record<string, Check> = {
  async template(client) {
    await usesTool(client, "search", { query: "tea" }, /results for tea/);
    await keepsConversation(client);
    await hasProperties(client, "context_schema", ["model", "system_prompt"]);
    await usesTool(client, "search", { query: "milk" }, /results for milk/, {
      context: { system_prompt: "Be brief." },
    });
  },

  async "uv-workspace"(client) {
    const { thread_id: thread } = await client.threads.create();
    const paused = await client.runs.wait(thread, "agent", { input: say('use send_mail {"to": "anna"}') });
    assert.equal(paused.__interrupt__?.length, 1, JSON.stringify(paused));
    const values = await client.runs.wait(thread, "agent", {
      command: { resume: { decisions: [{ type: "approve" }] } },
    });
    assert.match(text(values.messages.at(-1)), /sent to anna \(support\)/);
  },

  async "src-layout"(client) {
    const { thread_id: thread } = await client.threads.create();
    const resume = (value: unknown) => client.runs.wait(thread, "agent", { command: { resume: value } });
    const paused = await client.runs.wait(thread, "agent", { input: { city: "Rome" } });
    assert.deepEqual(paused.__interrupt__[0].value, { ask: "Which hotel in Rome?" });
    const state = await client.threads.getState(thread, undefined, { subgraphs: true });
    assert.equal(state.tasks[0].state.values.city, "Rome");
    assert.deepEqual((await resume("Roma")).__interrupt__[0].value, { confirm: "Roma" });
    assert.deepEqual((await resume(false)).__interrupt__[0].value, { ask: "Which hotel in Rome?" });
    await resume("Grand");
    const done = await resume(true);
    assert.equal(done.hotel, "Grand");
    assert.equal(done.log.at(-1), "done with Grand in EUR");
    await hasProperties(client, "input_schema", ["city", "hotel", "log", "nights"]);
    assert.deepEqual(Object.keys(await client.assistants.getSubgraphs("agent")), ["book"]);

    const { thread_id: second } = await client.threads.create();
    await client.runs.wait(second, "workflow", { input: { nights: 2 } });
    assert.deepEqual(await client.runs.wait(second, "workflow", { command: { resume: 2 } }), { total: 480 });
  },

  async requirements(client) {
    const config = { configurable: { user_id: "anna" } };
    const ask = (question: string) => client.runs.wait(null, "agent", { input: say(question), config });
    await ask("green tea with lemon");
    await ask("the train leaves at nine");
    const values = await ask("when does the train leave");
    assert.deepEqual(values.found, ["the train leaves at nine"]);
    const { items } = await client.store.searchItems(["notes", "anna"], { query: "tea lemon", limit: 1 });
    assert.equal(items[0].value.text, "green tea with lemon");
    await keepsConversation(client);
  },

  async "fastapi-app"(client, { url }) {
    const post = (path: string, body: object) =>
      fetch(url + path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const asked = await post("/ask", { question: "who?" });
    assert.equal(asked.status, 200, await asked.clone().text());
    assert.equal(asked.headers.get("x-corpus"), "fastapi");
    assert.deepEqual(await asked.json(), { answer: "You said: who?" });
    assert.equal((await post("/ask", {})).status, 422);
    assert.deepEqual(await (await fetch(`${url}/greeting`)).json(), { greeting: "ready" });
    assert.equal((await (await fetch(`${url}/ticks`)).text()).match(/event: tick/g)?.length, 3);
    await allowsOrigin(url);
    await keepsConversation(client);
    const called = await client.runs.wait(null, "caller", { input: { text: "through the API" } });
    assert.equal(called.heard, "You said: through the API");
  },

  "custom-auth": separatesUsers,

  async "deep-agent"(client) {
    await usesTool(client, "internet_search", { query: "tea" }, /results for tea/);
    const task = { description: 'use internet_search {"query": "milk"}', subagent_type: "critic" };
    await usesTool(client, "task", task, /results for milk/);
    const write = { file_path: "/notes.md", content: "Tea is good." };
    const { thread_id: thread } = await client.threads.create();
    const values = await client.runs.wait(thread, "agent", { input: say(`use write_file ${JSON.stringify(write)}`) });
    assert.ok(values.files?.["/notes.md"], `no file in ${Object.keys(values).join(", ")}`);
  },

  async mixed(client, { url }) {
    await usesTool(client, "count", { text: "three short words" }, /3 words/);
    const { thread_id: thread } = await client.threads.create();
    await client.runs.wait(thread, "agent", { input: say("hello") });
    // a graph of the other language has threads of its own
    await assert.rejects(
      client.runs.wait(thread, "shout", { input: say("and you?") }),
      /written by a Python graph "agent"/,
    );
    const { values: before } = await client.threads.getState(thread);
    assert.deepEqual((before.messages as Message[]).map(text), ["hello", "You said: hello"]);
    const { thread_id: other } = await client.threads.create();
    const values = await client.runs.wait(other, "shout", { input: say("and you?") });
    assert.equal(values.shouted, "AND YOU?");
    await client.runs.wait(thread, "agent", { input: say("still there?") });
    const { values: kept } = await client.threads.getState(thread);
    const texts = ["hello", "You said: hello", "still there?", "You said: still there?"];
    assert.deepEqual((kept.messages as Message[]).map(text), texts);
    assert.deepEqual(await (await fetch(`${url}/languages`)).json(), ["js", "py"]);
  },
};
