/** Interrupts of parallel tools and of parallel subgraphs, answered by id; tool calls of cancelled runs. */
import { describe, expect, test } from "vitest";

import { type Client, client, sdks } from "./clients.ts";
import { has } from "./features.ts";
import { sleep } from "./frames.ts";
import { request } from "./http.ts";

type Interrupt = { id: string; value: Record<string, string> };
type Messages = { messages: { type: string; content: string; tool_call_id?: string }[] };

/** Pending interrupts in the order of their tasks. */
const pending = async (client: Client, thread: string): Promise<Interrupt[]> => {
  const { tasks } = await client.threads.getState(thread);
  return tasks.flatMap(({ interrupts }) => interrupts as Interrupt[]);
};

describe.each(sdks)("parallel interrupts over SDK $sdk", ({ client }) => {
  const started = async (graph: string, input: Record<string, unknown>) => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, graph, { input });
    return thread_id;
  };
  const answer = (thread: string, graph: string, resume: Record<string, unknown>) =>
    client.runs.wait(thread, graph, { command: { resume } });

  test.runIf(has("interrupt ids"))("tools in their own tasks are answered together, each with its answer", async () => {
    const thread = await started("desk", { messages: [], apart: true });
    const asked = await pending(client, thread);
    expect(asked.map(({ value }) => value)).toEqual([{ what: "tea" }, { what: "cake" }]);
    expect(new Set(asked.map(({ id }) => id)).size).toBe(2);
    const { interrupts } = await client.threads.get(thread);
    expect(new Set(Object.values(interrupts).flat())).toEqual(new Set(asked));
    await answer(thread, "desk", Object.fromEntries(asked.map(({ id, value }) => [id, `yes to ${value["what"]}`])));
    const { values } = await client.threads.getState<Messages>(thread);
    const results = values.messages.filter(({ type }) => type === "tool").map(({ content }) => content);
    expect(results).toEqual(["tea: yes to tea", "cake: yes to cake"]);
    expect(values.messages.at(-1)).toMatchObject({ content: "closed" });
  });

  test.runIf(has("answers to some interrupts"))(
    "tools in their own tasks are answered one after the other, the last one first",
    async () => {
      const thread = await started("desk", { messages: [], apart: true });
      const [tea, cake] = (await pending(client, thread)) as [Interrupt, Interrupt];
      await answer(thread, "desk", { [cake.id]: "no" });
      expect(await pending(client, thread)).toEqual([tea]);
      await expect(answer(thread, "desk", { [cake.id]: "again" })).rejects.toThrow(/409.*not pending/s);
      await answer(thread, "desk", { [tea.id]: "yes" });
      const { values } = await client.threads.getState<Messages>(thread);
      expect(values.messages.filter(({ type }) => type === "tool")).toMatchObject([
        { content: "tea: yes", tool_call_id: "call_tea" },
        { content: "cake: no", tool_call_id: "call_cake" },
      ]);
    },
  );

  test.runIf(has("answers to some interrupts") && has("several questions of one task"))(
    "tools in one task ask one after the other, and each receives its answer",
    async () => {
      const thread = await started("desk", { messages: [] });
      const seen: string[] = [];
      for (let asked = await pending(client, thread); asked.length > 0; asked = await pending(client, thread)) {
        seen.push(...asked.map(({ value }) => value["what"]!));
        await answer(thread, "desk", Object.fromEntries(asked.map(({ id, value }) => [id, `yes to ${value["what"]}`])));
      }
      expect(seen).toEqual(["tea", "cake"]);
      const { values } = await client.threads.getState<Messages>(thread);
      const results = values.messages.filter(({ type }) => type === "tool").map(({ content }) => content);
      expect(results).toEqual(["tea: yes to tea", "cake: yes to cake"]);
    },
  );

  test.runIf(has("answers to some interrupts"))("parallel subgraphs are answered in any number and order", async () => {
    const members = ["ann", "bob", "cy"];
    const thread = await started("team", { members });
    const asked = await pending(client, thread);
    expect(asked.map(({ value }) => value["name"])).toEqual(members);
    const byName = new Map(asked.map(({ id, value }) => [value["name"], id]));
    await answer(thread, "team", { [byName.get("cy")!]: "c", [byName.get("ann")!]: "a" });
    expect((await pending(client, thread)).map(({ value }) => value)).toEqual([{ name: "bob" }]);
    const values = await answer(thread, "team", { [byName.get("bob")!]: "b" });
    expect(values).toMatchObject({ log: expect.arrayContaining(["ann: a", "bob: b", "cy: c", "closed"]) });
    expect(await client.threads.get(thread)).toMatchObject({ status: "idle", interrupts: {} });
  });

  test("a value without an id answers all that are pending", async () => {
    const thread = await started("team", { members: ["ann", "bob"] });
    const values = await client.runs.wait(thread, "team", { command: { resume: "both" } });
    expect(values).toMatchObject({ log: expect.arrayContaining(["ann: both", "bob: both"]) });
  });

  test.runIf(has("interrupt ids"))("strict_resume rejects a value for several interrupts, and names them", async () => {
    const thread = await started("team", { members: ["ann", "bob"] });
    const [ann, bob] = (await pending(client, thread)) as [Interrupt, Interrupt];
    const body = { assistant_id: "team", command: { resume: "x" }, strict_resume: true };
    const { status, text } = await request("POST", `/threads/${thread}/runs/wait`, body);
    expect([status, text]).toEqual([409, expect.stringContaining([ann.id, bob.id].sort().join(", "))]);
  });

  test.runIf(has("interrupt ids"))("new input reports all interrupts that it discards", async () => {
    const thread = await started("team", { members: ["ann", "bob"] });
    const asked = await pending(client, thread);
    const stream = client.runs.stream(thread, "team", { input: { members: ["ann"] } });
    for await (const { event, data } of stream as AsyncIterable<{ event: string; data: unknown }>) {
      expect(event).toBe("metadata");
      const { discarded_interrupts: discarded } = data as { discarded_interrupts: string[] };
      expect(discarded.toSorted()).toEqual(asked.map(({ id }) => id).sort());
      break;
    }
  });
});

test("the tool calls of a cancelled run are answered when the next input comes", async () => {
  const { thread_id: thread } = await client.threads.create();
  const input = { messages: [{ role: "user", content: "hi" }] };
  const { run_id: run } = await client.runs.create(thread, "patient", { input });
  while ((await client.threads.getState(thread)).next[0] !== "tools") await sleep(50);
  await client.runs.cancel(thread, run, true);
  const result = (await client.runs.wait(thread, "patient", { input })) as unknown as Messages;
  expect(result.messages.map(({ type }) => type)).toEqual(["human", "ai", "tool", "human", "ai"]);
  expect(result.messages.at(-1)).toMatchObject({ content: "results: 1" });
});
