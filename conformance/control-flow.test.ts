/** Commands, and the functional API. */
import { describe, expect, test } from "vitest";

import { sdks } from "./clients.ts";
import { collect, eventData } from "./frames.ts";

describe.each(sdks)("control flow over SDK $sdk", ({ client }) => {
  test("a node's command updates the state and decides what follows", async () => {
    expect(await client.runs.wait(null, "commands", { input: {} })).toEqual({ log: ["hall", "room"] });
  });

  test("a caller's command goes to another node", async () => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "commands", { input: {} });
    const command = { goto: "yard", update: { log: ["by hand"] } };
    const values = (await client.runs.wait(thread_id, "commands", { command })) as unknown as { log: string[] };
    expect(values.log).toEqual(["hall", "room", "by hand", "yard"]);
  });

  test("a functional workflow asks, and returns its result without repeating its tasks", async () => {
    const { thread_id } = await client.threads.create();
    const options = { input: { n: 4 }, streamMode: ["updates"] as ["updates"] };
    const asked = await collect(client.runs.stream(thread_id, "functional", options));
    expect(eventData(asked, "updates")).toMatchObject([{ double: 8 }, { __interrupt__: [{ value: "sure?" }] }]);
    const [interrupt] = (await client.threads.getState(thread_id)).tasks.flatMap(({ interrupts }) => interrupts);
    const resume = interrupt!.id ? { [interrupt!.id]: "yes" } : "yes";
    const done = await collect(
      client.runs.stream(thread_id, "functional", { command: { resume }, streamMode: ["updates"] }),
    );
    expect(Object.values(eventData(done, "updates").at(-1))).toEqual([{ doubled: 8, answer: "yes" }]);
    expect((await client.threads.getState(thread_id)).values).toEqual({ doubled: 8, answer: "yes" });
  });
});
