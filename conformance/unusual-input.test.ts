import { describe, expect, test } from "vitest";
import { has } from "./features.ts";
import { request } from "./http.ts";

const newThread = async () => (await request("POST", "/threads", {})).json.thread_id as string;
const NUL = "\u0000";

describe("text that a database may reject", () => {
  // A null character, half of a surrogate pair, a character beyond the basic plane.
  const texts = [`a${NUL}b`, "a\ud800b", "a\udc00b", "a😀b"];

  test.each(texts.map((text) => [JSON.stringify(text), text]))("%s can be stored in metadata", async (_, text) => {
    const answer = await request("POST", "/threads", { metadata: { text, [`key ${text}`]: 1 } });
    expect(answer.status).toBe(200);
    const { metadata } = (await request("GET", `/threads/${answer.json.thread_id}`)).json;
    expect(metadata.text).toBe(text === "a😀b" ? text : "a\ufffdb");
  });

  test.each(texts.map((text) => [JSON.stringify(text), text]))("%s passes through a run", async (_, text) => {
    const thread = await newThread();
    const body = { assistant_id: "agent", input: { messages: [{ role: "user", content: text }] } };
    const { status, json } = await request("POST", `/threads/${thread}/runs/wait`, body);
    expect(status).toBe(200);
    expect(json.messages.map((message: { type: string }) => message.type)).toEqual(["human", "ai"]);
    expect((await request("GET", `/threads/${thread}/state`)).json.values.messages).toHaveLength(2);
  });

  test.runIf(has("lone surrogates"))("a graph may emit it", async () => {
    const thread = await newThread();
    const body = {
      assistant_id: "agent",
      input: { messages: [{ role: "user", content: "say what Postgres rejects" }] },
    };
    const { json } = await request("POST", `/threads/${thread}/runs/wait`, body);
    expect(json.messages[1].content).toMatch(/^nul . half .$/su);
    expect((await request("GET", `/threads/${thread}/state`)).json.values.messages).toHaveLength(2);
    expect((await request("GET", `/threads/${thread}`)).json.status).toBe("idle");
  });

  test("it causes no server error on other endpoints", async () => {
    const text = texts.slice(0, 3).join(" ");
    const answers = await Promise.all([
      request("POST", "/assistants", { graph_id: "agent", name: text, description: text, metadata: { text } }),
      request("POST", "/assistants", { graph_id: text }),
      request("POST", "/threads/search", { metadata: { text } }),
      request("POST", "/threads/search", { values: { text } }),
      request("POST", "/runs", { assistant_id: text }),
      request("PUT", "/store/items", { namespace: ["nul", text], key: text, value: { text } }),
      request("POST", "/store/items/search", { namespace_prefix: [text], filter: { text } }),
      request("GET", "/assistants/%00"),
      request("GET", "/store/items?namespace=a%00b&key=%00"),
    ]);
    expect(answers.map((answer) => answer.status).filter((status) => status >= 500)).toEqual([]);
  });
});

describe("unusual but valid input", () => {
  test("JSON nested hundreds of levels deep can be stored", async () => {
    const metadata = JSON.parse(`${'{"a":'.repeat(500)}1${"}".repeat(500)}`);
    const answer = await request("POST", "/threads", { metadata });
    expect(answer.status).toBe(200);
    expect((await request("GET", `/threads/${answer.json.thread_id}`)).json.metadata).toEqual(metadata);
  });

  test("a message of a megabyte passes through a run", async () => {
    const content = "x".repeat(1_000_000);
    const body = { assistant_id: "agent", input: { messages: [{ role: "user", content }] } };
    const { json } = await request("POST", "/runs/wait", body);
    expect(json.messages[1].content).toBe(`You said: ${content}`);
  });

  test("JSON sent as text/plain is parsed, for browsers that avoid a preflight", async () => {
    const body = JSON.stringify({ metadata: { by: "beacon" } });
    const { json } = await request("POST", "/threads", body, { "content-type": "text/plain;charset=UTF-8" });
    expect(json.metadata).toMatchObject({ by: "beacon" });
  });

  test("unknown keys are ignored", async () => {
    const body = { assistant_id: "counter", input: { add: 1 }, no_such_option: true };
    expect((await request("POST", "/runs/wait", body)).json).toMatchObject({ total: 2 });
  });

  test("prototype keys are stored like other keys", async () => {
    const metadata = JSON.parse('{"__proto__":{"polluted":true},"constructor":1}');
    const answer = await request("POST", "/threads", JSON.stringify({ metadata }));
    expect(answer.status).toBe(200);
    expect((await request("POST", "/threads", {})).json.metadata).not.toHaveProperty("polluted");
  });
});
