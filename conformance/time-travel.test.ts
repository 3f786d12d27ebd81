import { describe, expect, test } from "vitest";
import { type Client, sdks } from "./clients.ts";
import { has } from "./features.ts";

type Values = { total: number; trail: string[] };

/** Creates a thread that counted twice: +1, *2, +10, *2. */
async function countedTwice(client: Client): Promise<string> {
  const { thread_id } = await client.threads.create();
  for (const add of [1, 10]) await client.runs.wait(thread_id, "counter", { input: { add } });
  return thread_id;
}

describe.each(sdks)("time travel over SDK $sdk", ({ client }) => {
  const history = (thread_id: string) => client.threads.getHistory<Values>(thread_id, { limit: 100 });
  /** Returns the newest checkpoint with this trail. */
  const at = async (thread_id: string, trail: string[]) =>
    (await history(thread_id)).find((state) => JSON.stringify(state.values.trail) === JSON.stringify(trail))!;

  test("a run may start from an older checkpoint with new input", async () => {
    const thread_id = await countedTwice(client);
    const end = await at(thread_id, ["+1", "*2"]);
    const { checkpoint } = end;
    const values = await client.runs.wait(thread_id, "counter", { input: { add: 5 }, checkpoint });
    expect(values).toMatchObject({ total: 14, trail: ["+1", "*2", "+5", "*2"] });
    expect((await client.threads.getState(thread_id)).values).toMatchObject({ total: 14 });
    expect((await client.threads.get(thread_id)).values).toMatchObject({ total: 14 });
  });

  test("an older checkpoint may be named by its id alone", async () => {
    const thread_id = await countedTwice(client);
    const { checkpoint } = await at(thread_id, ["+1", "*2"]);
    const checkpointId = checkpoint.checkpoint_id!;
    const values = await client.runs.wait(thread_id, "counter", { input: { add: 5 }, checkpointId });
    expect(values).toMatchObject({ total: 14 });
  });

  test("a run without input continues from an older checkpoint", async () => {
    const thread_id = await countedTwice(client);
    const { checkpoint, next } = await at(thread_id, ["+1"]);
    expect(next).toEqual(["double"]);
    const values = await client.runs.wait(thread_id, "counter", { input: null, checkpoint });
    expect(values).toMatchObject({ total: 2, trail: ["+1", "*2"] });
  });

  test("history keeps both branches with their common checkpoint", async () => {
    const thread_id = await countedTwice(client);
    const before = await history(thread_id);
    const fork = await at(thread_id, ["+1", "*2"]);
    await client.runs.wait(thread_id, "counter", { input: { add: 5 }, checkpoint: fork.checkpoint });
    const after = await history(thread_id);
    expect(after.length).toBeGreaterThan(before.length);
    const ids = after.map((state) => state.checkpoint.checkpoint_id!);
    expect(ids).toEqual(expect.arrayContaining(before.map((state) => state.checkpoint.checkpoint_id)));
    expect(ids).toEqual([...ids].sort().reverse());
    const children = after.filter((state) => state.parent_checkpoint?.checkpoint_id === fork.checkpoint.checkpoint_id);
    expect(children).toHaveLength(2);
    const trails = after.filter((state) => state.next.length === 0).map((state) => state.values.trail.at(-2));
    expect(trails).toEqual(["+5", "+10", "+1"]);
  });

  test.runIf(has("updates of older states"))("a state update at an older checkpoint creates a branch", async () => {
    const thread_id = await countedTwice(client);
    const { checkpoint } = await at(thread_id, ["+1"]);
    await client.threads.updateState(thread_id, { values: { total: 100, trail: ["edit"] }, checkpoint });
    const state = await client.threads.getState<Values>(thread_id);
    expect(state).toMatchObject({ values: { total: 101, trail: ["+1", "edit"] }, metadata: { source: "update" } });
    expect(state.parent_checkpoint!.checkpoint_id).toBe(checkpoint.checkpoint_id);
  });

  test.runIf(has("updates of older states"))("a branch can be run after its state was edited", async () => {
    const thread_id = await countedTwice(client);
    const { checkpoint } = await at(thread_id, ["+1"]);
    const values = { total: 100, trail: ["edit"] };
    await client.threads.updateState(thread_id, { values, checkpoint, asNode: "increment" });
    const end = await client.runs.wait(thread_id, "counter", { input: null });
    expect(end).toMatchObject({ total: 202, trail: ["+1", "edit", "*2"] });
  });

  const redoes = has("state updates without values") && has("updates of older states");
  test.runIf(redoes)("an answered interrupt can be raised again on a branch", async () => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "approval", { input: { topic: "t" } });
    const { checkpoint } = await client.threads.getState(thread_id);
    await client.runs.wait(thread_id, "approval", { command: { resume: "yes" } });
    await client.threads.updateState(thread_id, { values: null, checkpoint, asNode: "draft" });
    expect((await client.threads.getState(thread_id)).next).toEqual(["ask"]);
    await client.runs.wait(thread_id, "approval", { input: null });
    expect((await client.threads.get(thread_id)).status).toBe("interrupted");
    const second = await client.runs.wait(thread_id, "approval", { command: { resume: "no" } });
    expect(second).toMatchObject({ answer: "no", log: ["draft:t", "asked", "dropped"] });
  });

  test("a message can be replaced from the checkpoint before it", async () => {
    const { thread_id } = await client.threads.create();
    const say = (content: string, checkpoint?: Parameters<Client["runs"]["wait"]>[2]) =>
      client.runs.wait(thread_id, "agent", { input: { messages: [{ role: "user", content }] }, ...checkpoint });
    await say("one");
    await say("two");
    type Chat = { messages: { content: string }[] };
    const states = await client.threads.getHistory<Chat>(thread_id, { limit: 100 });
    const { checkpoint } = states.find((state) => state.next.length === 0 && state.values.messages.length === 2)!;
    const values = (await say("other", { checkpoint })) as unknown as Chat;
    expect(values.messages.map((message) => message.content)).toEqual([
      "one",
      "You said: one",
      "other",
      "You said: other",
    ]);
  });
});
