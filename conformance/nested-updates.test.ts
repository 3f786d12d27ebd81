/** Updates of the state at each namespace of a thread that has stopped inside a subgraph. */
import { describe, expect, test } from "vitest";

import { type Client, client, sdks } from "./clients.ts";
import { has } from "./features.ts";
import { request } from "./http.ts";

type Address = { checkpoint_ns: string; checkpoint_id?: string; checkpoint_map?: Record<string, string> | null };
type State = Awaited<ReturnType<Client["threads"]["getState"]>>;
type Values = { log: string[] };

/** Stops a thread in the grandchild of `nested`; returns the addresses of child and grandchild. */
async function stopped() {
  const { thread_id: thread } = await client.threads.create();
  await client.runs.wait(thread, "nested", { input: { ask: true } });
  const child = (await client.threads.getState(thread)).tasks[0]!.checkpoint as Address;
  const inner = await client.threads.getState(thread, child as never);
  return { thread, child, grandchild: inner.tasks[0]!.checkpoint as Address };
}

const read = (thread: string, address: Address): Promise<State> =>
  client.threads.getState(thread, { checkpoint_ns: address.checkpoint_ns } as never);

const update = async (thread: string, checkpoint: Address, body: object) => {
  const answer = await request("POST", `/threads/${thread}/state`, { ...body, checkpoint });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.json.checkpoint as Required<Address>;
};

/** Each form in which clients address the newest checkpoint of a namespace. */
const FORMS: [string, (state: State, address: Address) => Address][] = [
  ["its namespace", (_, { checkpoint_ns }) => ({ checkpoint_ns })],
  ["the checkpoint of the task", (_, address) => address],
  [
    "namespace and id",
    ({ checkpoint }, { checkpoint_ns }) => ({ checkpoint_ns, checkpoint_id: checkpoint.checkpoint_id! }),
  ],
  ["the checkpoint of its state", ({ checkpoint }) => checkpoint as Address],
];

describe.each(["child", "grandchild"] as const)("an update of the %s", (level) => {
  const node = level === "child" ? "grandchild" : "deep";
  test.each(FORMS)("addressed by %s is its newest checkpoint", async (_, form) => {
    const { thread, ...places } = await stopped();
    const address = places[level];
    const old = await read(thread, address);
    const root = await client.threads.getState(thread);
    const written = await update(thread, form(old, address), { values: { log: ["forced"] }, as_node: node });
    expect(written).toMatchObject({ thread_id: thread, checkpoint_ns: address.checkpoint_ns });
    expect(await read(thread, address)).toMatchObject({
      values: { log: ["enter", "before", "forced"] },
      next: [],
      checkpoint: { checkpoint_ns: address.checkpoint_ns, checkpoint_id: written.checkpoint_id },
      parent_checkpoint: { checkpoint_id: old.checkpoint.checkpoint_id },
      metadata: { source: "update", step: (old.metadata!["step"] as number) + 1 },
    });
    // the root has not changed; the official servers take the thread's values from the subgraph
    expect((await client.threads.getState(thread)).checkpoint).toEqual(root.checkpoint);
    expect(await client.threads.get(thread)).toMatchObject({ status: "interrupted", values: { log: ["enter"] } });
  });

  test("is what the run without input continues with", async () => {
    const { thread, ...places } = await stopped();
    await update(thread, places[level], { values: { log: ["forced"] }, as_node: node });
    const values = (await client.runs.wait(thread, "nested", { input: null })) as unknown as Values;
    expect(values.log.at(-1)).toBe("forced");
    expect(values.log.join()).not.toMatch(/deep:/);
    expect(await client.threads.get(thread)).toMatchObject({ status: "idle", interrupts: {} });
  });

  test("can follow another one", async () => {
    const { thread, ...places } = await stopped();
    const { checkpoint_ns } = places[level];
    const first = await update(thread, { checkpoint_ns }, { values: { log: ["one"] } });
    const second = await update(thread, { checkpoint_ns }, { values: { log: ["two"] } });
    expect(second.checkpoint_id > first.checkpoint_id).toBe(true);
    expect((await read(thread, places[level])).values).toMatchObject({ log: ["enter", "before", "one", "two"] });
    const history = await client.threads.getHistory(thread, { checkpoint: { checkpoint_ns } as never });
    expect(history.slice(0, 2).map(({ metadata }) => metadata!["source"])).toEqual(["update", "update"]);
  });

  test.runIf(has("updates of older states"))("from an older checkpoint leaves out what followed", async () => {
    const { thread, ...places } = await stopped();
    const { checkpoint_ns } = places[level];
    const history = await client.threads.getHistory(thread, { checkpoint: { checkpoint_ns } as never });
    const oldest = history.at(-1)!.checkpoint.checkpoint_id!;
    const address = { checkpoint_ns, checkpoint_id: oldest };
    await update(thread, address, { values: { log: ["anew"] }, as_node: "__start__" });
    const { values, parent_checkpoint } = await read(thread, places[level]);
    expect(values).toMatchObject({ log: ["anew"] });
    expect(parent_checkpoint).toMatchObject({ checkpoint_id: oldest });
  });

  // The official servers answer 500 and 400.
  test("is rejected for an unknown node", async () => {
    const { thread, ...places } = await stopped();
    const body = { values: { log: ["x"] }, as_node: "nowhere", checkpoint: places[level] };
    expect((await request("POST", `/threads/${thread}/state`, body)).status).toBe(422);
  });
});

describe.each(sdks)("updates of subgraphs over SDK $sdk", ({ client: sdk }) => {
  test.runIf(has("interrupt ids"))(
    "an update without a node lets the waiting node ask again, by another id",
    async () => {
      const { thread, grandchild } = await stopped();
      const asked = (await sdk.threads.getState(thread)).tasks[0]!.interrupts[0]!;
      await sdk.threads.updateState(thread, { values: { log: ["noted"] }, checkpoint: grandchild as never });
      await sdk.runs.wait(thread, "nested", { input: null });
      const [again] = (await sdk.threads.getState(thread)).tasks[0]!.interrupts;
      expect(again).toEqual({ ...asked, id: expect.not.stringMatching(asked.id!) });
      const resumed = sdk.runs.wait(thread, "nested", { command: { resume: { [again!.id!]: "yes" } } });
      const { log } = (await resumed) as unknown as Values;
      expect(log.slice(-2)).toEqual(["noted", "deep:yes"]);
    },
  );

  test("after an update of the root the subgraph starts anew", async () => {
    const { thread, child } = await stopped();
    await sdk.threads.updateState(thread, { values: { log: ["root"] }, asNode: "enter" });
    const { tasks, values } = await sdk.threads.getState(thread);
    expect(values).toMatchObject({ log: ["enter", "root"] });
    expect(tasks[0]!.checkpoint).not.toEqual(child);
    await sdk.runs.wait(thread, "nested", { input: null });
    expect((await sdk.threads.getState(thread, undefined, { subgraphs: true })).tasks[0]!.state).toMatchObject({
      values: { log: ["enter", "root", "before"] },
      next: ["grandchild"],
    });
  });

  test("an update of one of several parallel subgraphs leaves the others waiting", async () => {
    const { thread_id: thread } = await sdk.threads.create();
    const members = ["ann", "bob"];
    await sdk.runs.wait(thread, "team", { input: { members } });
    const { tasks } = await sdk.threads.getState(thread);
    expect(tasks.map(({ interrupts }) => interrupts.map(({ value }) => value))).toEqual(
      members.map((name) => [{ name }]),
    );
    const message = { role: "user", content: "Hurry." };
    await sdk.threads.updateState(thread, {
      values: { log: ["ann: forced"], messages: [message] },
      asNode: "ask",
      checkpoint: tasks[0]!.checkpoint as never,
    });
    const [ann, bob] = await Promise.all(tasks.map(({ checkpoint }) => read(thread, checkpoint as Address)));
    expect(ann).toMatchObject({
      next: ["list"],
      values: { messages: [{ content: "Go." }, { content: "I am ann." }, { type: "human" }] },
    });
    expect((ann!.values as { messages: { id: string }[] }).messages[2]!.id).toEqual(expect.any(String));
    expect(bob).toMatchObject({ next: ["ask"], values: { messages: [{ content: "Go." }, { content: "I am bob." }] } });
    await sdk.runs.wait(thread, "team", { input: null });
    const { interrupts } = await sdk.threads.get(thread);
    expect(Object.values(interrupts).flat()).toMatchObject([{ value: { name: "bob" } }]);
    const values = await sdk.runs.wait(thread, "team", { command: { resume: "late" } });
    expect(values).toEqual({
      members,
      log: ["ann: forced", "ann has human, ai, human", "bob: late", "bob has human, ai", "closed"],
    });
  });
});

// The official servers answer 500 and 400.
test("rejects an update of a subgraph that the graph does not have", async () => {
  const { thread } = await stopped();
  const body = { values: { log: ["x"] }, checkpoint: { checkpoint_ns: "no-such:0" } };
  expect((await request("POST", `/threads/${thread}/state`, body)).status).toBe(422);
});
