import { describe, expect, test } from "vitest";
import { type Client, sdks } from "./clients.ts";
import { request } from "./http.ts";

type Strategy = "reject" | "enqueue" | "interrupt" | "rollback";
type Chat = { messages: { type: string; content: string }[] };
type Log = { log: string[] };

const slow = (label: string, steps = 4, ms = 100) => ({ input: { label, steps, ms } });

describe.each(sdks)("double-texting over SDK $sdk", ({ client }) => {
  /** Returns a thread with a run that has completed its first step and is still running. */
  const busy = async () => {
    const { thread_id } = await client.threads.create();
    const first = await client.runs.create(thread_id, "slow", slow("one"));
    const begun = async () => (await client.threads.getState<Log>(thread_id)).values.log?.length ?? 0;
    await expect.poll(begun, { interval: 10 }).toBeGreaterThan(1);
    return { thread_id, first: first.run_id };
  };
  const status = async (thread_id: string, run_id: string) => (await client.runs.get(thread_id, run_id)).status;
  const second = (client: Client, thread_id: string, multitaskStrategy: Strategy) =>
    client.runs.create(thread_id, "slow", { ...slow("two", 1, 20), multitaskStrategy });

  test("reject rejects the second run and does not affect the first", async () => {
    const { thread_id, first } = await busy();
    await expect(second(client, thread_id, "reject")).rejects.toThrow(
      "HTTP 422: Thread is already running a task. Wait for it to finish or choose a different multitask strategy.",
    );
    expect(await client.runs.join(thread_id, first)).toMatchObject({ tick: 4 });
    expect(await client.runs.list(thread_id)).toHaveLength(1);
  });

  test("enqueue runs the second after the first", async () => {
    const { thread_id, first } = await busy();
    const { run_id } = await second(client, thread_id, "enqueue");
    const values = (await client.runs.join(thread_id, run_id)) as unknown as Log;
    expect(values.log).toEqual(["one:begin", "one:1", "one:2", "one:3", "one:4", "two:begin", "two:1"]);
    expect([await status(thread_id, first), await status(thread_id, run_id)]).toEqual(["success", "success"]);
  });

  test("many enqueued runs execute one at a time, in order of arrival", async () => {
    const { thread_id } = await busy();
    const labels = ["a", "b", "c"];
    let last = "";
    for (const label of labels) {
      const payload = { ...slow(label, 1, 20), multitaskStrategy: "enqueue" as const };
      last = (await client.runs.create(thread_id, "slow", payload)).run_id;
    }
    const { log } = (await client.runs.join(thread_id, last)) as unknown as Log;
    expect(log.slice(5)).toEqual(labels.flatMap((label) => [`${label}:begin`, `${label}:1`]));
  });

  test("interrupt stops the first run and continues from the state it reached", async () => {
    const { thread_id, first } = await busy();
    const { run_id } = await second(client, thread_id, "interrupt");
    const { log } = (await client.runs.join(thread_id, run_id)) as unknown as Log;
    expect(log.slice(0, 2)).toEqual(["one:begin", "one:1"]);
    expect(log).not.toContain("one:4");
    expect(log.slice(-2)).toEqual(["two:begin", "two:1"]);
    expect([await status(thread_id, first), await status(thread_id, run_id)]).toEqual(["interrupted", "success"]);
    expect((await client.threads.get(thread_id)).status).toBe("idle");
  });

  // The JavaScript dev server keeps a running run that is rolled back, in status error.
  test("rollback undoes the first run, and the thread holds only the second", async () => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "slow", slow("zero", 1, 1));
    const first = await client.runs.create(thread_id, "slow", slow("one"));
    await expect.poll(() => status(thread_id, first.run_id), { interval: 10 }).toBe("running");
    await new Promise((done) => setTimeout(done, 150));
    const { run_id } = await second(client, thread_id, "rollback");
    const { log } = (await client.runs.join(thread_id, run_id)) as unknown as Log;
    expect(log).toEqual(["zero:begin", "zero:1", "two:begin", "two:1"]);
    await expect(client.runs.get(thread_id, first.run_id)).rejects.toThrow("HTTP 404: Run not found");
    const history = await client.threads.getHistory<Log>(thread_id, { limit: 100 });
    expect(history.flatMap((state) => state.values.log ?? []).filter((entry) => entry.startsWith("one"))).toEqual([]);
    expect((await client.threads.get(thread_id)).values).toMatchObject({ log });
  });

  test("rollback of a chat leaves only the second turn's messages", async () => {
    const { thread_id } = await client.threads.create();
    const say = (city: string, delay: number) => ({
      input: { messages: [{ role: "user", content: `weather in ${city}` }] },
      config: { configurable: { delay } },
    });
    const first = await client.runs.create(thread_id, "agent", say("Rome", 150));
    await expect.poll(() => status(thread_id, first.run_id), { interval: 10 }).toBe("running");
    const payload = { ...say("Oslo", 0), multitaskStrategy: "rollback" as const };
    const values = (await client.runs.wait(thread_id, "agent", payload)) as unknown as Chat;
    expect(values.messages.map((message) => message.type)).toEqual(["human", "ai", "tool", "ai"]);
    expect(values.messages[0]!.content).toBe("weather in Oslo");
    const chat = (await client.threads.getState<Chat>(thread_id)).values;
    expect(chat.messages).toHaveLength(4);
  });

  test("two enqueued turns of a chat leave eight messages", async () => {
    const { thread_id } = await client.threads.create();
    const say = (city: string) => ({
      input: { messages: [{ role: "user", content: `weather in ${city}` }] },
      multitaskStrategy: "enqueue" as const,
    });
    await client.runs.create(thread_id, "agent", say("Rome"));
    const values = (await client.runs.wait(thread_id, "agent", say("Oslo"))) as unknown as Chat;
    expect(values.messages.map((message) => message.type)).toEqual(Array(2).fill(["human", "ai", "tool", "ai"]).flat());
  });

  test.each(["interrupt", "rollback"] as const)("%s also cancels enqueued runs", async (strategy) => {
    const { thread_id } = await busy();
    const waiting = await second(client, thread_id, "enqueue");
    const { run_id } = await second(client, thread_id, strategy);
    await client.runs.join(thread_id, run_id);
    expect(await status(thread_id, run_id)).toBe("success");
    const found = await status(thread_id, waiting.run_id).catch((error: Error) => error.message);
    expect(found).toContain(strategy === "interrupt" ? "interrupted" : "HTTP 404");
  });

  test("reject accepts a run on a thread that waits for an answer", async () => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "approval", { input: { topic: "t" } });
    const payload = { command: { resume: "yes" }, multitaskStrategy: "reject" as const };
    expect(await client.runs.wait(thread_id, "approval", payload)).toMatchObject({ answer: "yes" });
  });
});

describe("double-texting over HTTP", () => {
  // The JavaScript dev server rejects by default.
  test("enqueue is the default", async () => {
    const { thread_id } = (await request("POST", "/threads", {})).json;
    const body = { assistant_id: "slow", input: { label: "x", steps: 1, ms: 200 } };
    const runs = [];
    for (let n = 0; n < 2; n++) runs.push(await request("POST", `/threads/${thread_id}/runs`, body));
    expect(runs.map((run) => run.status)).toEqual([200, 200]);
    expect(runs[1]!.json.multitask_strategy).toBe("enqueue");
    const { json } = await request("GET", `/threads/${thread_id}/runs/${runs[1]!.json.run_id}/join`);
    expect(json.log).toEqual(["x:begin", "x:1", "x:begin", "x:1"]);
  });

  test("two concurrent resumes of one interrupt answer it once", async () => {
    const { thread_id } = (await request("POST", "/threads", {})).json;
    await request("POST", `/threads/${thread_id}/runs/wait`, { assistant_id: "approval", input: { topic: "t" } });
    const resume = { assistant_id: "approval", command: { resume: "yes" }, multitask_strategy: "reject" };
    const answers = await Promise.all([1, 2].map(() => request("POST", `/threads/${thread_id}/runs`, resume)));
    const accepted = answers.filter((answer) => answer.status === 200).map((answer) => answer.json);
    // the second is rejected, or arrives after the first has ended and finds no interrupt to answer
    expect(accepted.length).toBeGreaterThan(0);
    expect(answers.every((answer) => answer.status === 200 || answer.status === 422)).toBe(true);
    for (const run of accepted) await request("GET", `/threads/${thread_id}/runs/${run.run_id}/join`);
    const { json } = await request("GET", `/threads/${thread_id}/state`);
    expect(json.values.log).toEqual(["draft:t", "asked", "published"]);
  });
});
