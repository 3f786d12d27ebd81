import { describe, expect, test } from "vitest";
import { sdks } from "./clients.ts";
import { has } from "./features.ts";
import { collect, eventData } from "./frames.ts";

type Waiting = { __interrupt__: { id: string; value: unknown }[] };

describe.each(sdks)("interrupts over SDK $sdk", ({ client }) => {
  const asked = async () => {
    const { thread_id } = await client.threads.create();
    const values = (await client.runs.wait(thread_id, "approval", { input: { topic: "news" } })) as unknown as Waiting;
    return { thread_id, values };
  };

  test("a graph that interrupts ends its run and returns the interrupt", async () => {
    const { thread_id, values } = await asked();
    expect(values.__interrupt__).toMatchObject([{ value: { question: "Publish news?" } }]);
    const id = values.__interrupt__[0]?.id ?? "";
    expect(/^[0-9a-f]{32}$/.test(id)).toBe(has("interrupt ids"));
    expect(await client.runs.list(thread_id)).toMatchObject([{ status: "success" }]);
    const state = await client.threads.getState(thread_id);
    expect(state).toMatchObject({ next: ["ask"], tasks: [{ name: "ask", interrupts: values.__interrupt__ }] });
    expect(await client.threads.get(thread_id)).toMatchObject({
      status: "interrupted",
      values: { topic: "news", log: ["draft:news"] },
      interrupts: { [state.tasks[0]!.id]: values.__interrupt__ },
    });
  });

  test("the stream contains an interrupt in both values and updates", async () => {
    const { thread_id } = await client.threads.create();
    const payload = { input: { topic: "news" }, streamMode: ["values", "updates"] as ("values" | "updates")[] };
    const frames = await collect(client.runs.stream(thread_id, "approval", payload));
    const question = { __interrupt__: [{ value: { question: "Publish news?" } }] };
    expect(eventData(frames, "updates").at(-1)).toMatchObject(question);
    expect(eventData(frames, "values").at(-1)).toMatchObject(question);
  });

  test("a resumed graph continues with the answer", async () => {
    const { thread_id } = await asked();
    const values = await client.runs.wait(thread_id, "approval", { command: { resume: "yes" } });
    expect(values).toEqual({ topic: "news", answer: "yes", log: ["draft:news", "asked", "published"] });
    const thread = await client.threads.get(thread_id);
    expect(thread.status).toBe("idle");
    expect(Object.values(thread.interrupts ?? {}).flat()).toEqual([]);
  });

  test("the answer decides the branch taken", async () => {
    const { thread_id } = await asked();
    const values = await client.runs.wait(thread_id, "approval", { command: { resume: "no" } });
    expect(values).toMatchObject({ log: ["draft:news", "asked", "dropped"] });
  });

  test.each([["text"], [7], [true], [{ deep: [1] }], [[1, 2]]])("%j is a valid answer", async (resume) => {
    const { thread_id } = await asked();
    const values = await client.runs.wait(thread_id, "approval", { command: { resume } });
    expect(values).toMatchObject({ answer: resume, log: ["draft:news", "asked", "published"] });
  });

  // LangGraph.js itself treats these as no answer, and so does the JavaScript dev server.
  test.each([[0], [false], [""]])("%j is a valid answer, though falsy", async (resume) => {
    const { thread_id } = await asked();
    const values = await client.runs.wait(thread_id, "approval", { command: { resume } });
    expect(values).toMatchObject({ answer: resume, log: ["draft:news", "asked", "published"] });
  });

  test("a resume may also update the state", async () => {
    const { thread_id } = await asked();
    const command = { resume: "yes", update: { topic: "changed" } };
    const values = await client.runs.wait(thread_id, "approval", { command });
    expect(values).toMatchObject({ topic: "changed", answer: "yes" });
  });

  test("a resume can be streamed", async () => {
    const { thread_id } = await asked();
    const payload = { command: { resume: "yes" }, streamMode: "updates" as const };
    const frames = await collect(client.runs.stream(thread_id, "approval", payload));
    expect(eventData(frames, "updates").map((update) => Object.keys(update)[0])).toEqual(["ask", "publish"]);
  });

  test.runIf(has("interrupt ids"))(
    "two simultaneous interrupts of two branches are both reported and can be answered together",
    async () => {
      const { thread_id } = await client.threads.create();
      await client.runs.wait(thread_id, "parallel", { input: {} });
      const { interrupts } = await client.threads.get(thread_id);
      const pending = Object.values(interrupts as Record<string, Waiting["__interrupt__"]>).flat();
      expect(pending.map((interrupt) => (interrupt.value as { branch: string }).branch).sort()).toEqual([
        "left",
        "right",
      ]);
      const resume = Object.fromEntries(
        pending.map((interrupt) => [interrupt.id, (interrupt.value as { branch: string }).branch]),
      );
      const values = await client.runs.wait(thread_id, "parallel", { command: { resume } });
      expect(values).toEqual({ answers: { left: "left", right: "right", merged: "left+right" } });
    },
  );

  test.runIf(has("answers to some interrupts"))(
    "two simultaneous interrupts of two branches can be answered one after the other",
    async () => {
      const { thread_id } = await client.threads.create();
      await client.runs.wait(thread_id, "parallel", { input: {} });
      const { tasks } = await client.threads.getState(thread_id);
      const left = tasks.find((task) => task.name === "left")!.interrupts[0]!;
      const right = tasks.find((task) => task.name === "right")!.interrupts[0]!;
      await client.runs.wait(thread_id, "parallel", { command: { resume: { [left.id!]: 1 } } });
      const thread = await client.threads.get(thread_id);
      expect(thread.status).toBe("interrupted");
      expect(Object.values(thread.interrupts).flat()).toMatchObject([{ id: right.id }]);
      const values = await client.runs.wait(thread_id, "parallel", { command: { resume: { [right.id!]: 2 } } });
      expect(values).toMatchObject({ answers: { left: 1, right: 2, merged: "left+right" } });
    },
  );

  // The JavaScript dev server returns only one of them.
  test("waiting for a run with two interrupts returns both", async () => {
    const values = (await client.runs.wait((await client.threads.create()).thread_id, "parallel", {
      input: {},
    })) as unknown as Waiting;
    const branches = values.__interrupt__.map((interrupt) => (interrupt.value as { branch: string }).branch);
    expect(branches.sort()).toEqual(["left", "right"]);
  });

  // Named, because a plain answer that arrives after the first run has ended answers nothing, and LangGraph accepts it.
  test.runIf(has("interrupt ids"))(
    "a second answer to one interrupt is rejected or ends as an error, and changes nothing",
    async () => {
      const { thread_id, values } = await asked();
      const { id } = values.__interrupt__[0]!;
      const answered = await Promise.allSettled(
        ["yes", "no"].map(async (answer) => {
          const command = { resume: { [id]: answer } };
          const { run_id } = await client.runs.create(thread_id, "approval", { command });
          await client.runs.join(thread_id, run_id).catch(() => {});
          return (await client.runs.get(thread_id, run_id)).status as string;
        }),
      );
      const ends = answered.map((end) => (end.status === "fulfilled" ? end.value : String(end.reason)));
      expect(ends.sort()).toEqual([expect.stringMatching(/error|409/), "success"]);
      expect(await client.threads.get(thread_id)).toMatchObject({ status: "idle", values: { topic: "news" } });
      expect((await client.threads.getHistory(thread_id)).filter(({ next }) => next.length === 0)).toHaveLength(1);
    },
  );

  test.runIf(has("interrupt ids"))(
    "rejects an answer to an interrupt that is not pending, with the pending ids",
    async () => {
      const { thread_id, values } = await asked();
      const resume = { ["0".repeat(32)]: "yes" };
      await expect(client.runs.wait(thread_id, "approval", { command: { resume } })).rejects.toThrow(
        new RegExp(`409.*${values.__interrupt__[0]!.id}`, "s"),
      );
    },
  );

  test.runIf(has("interrupt ids"))("new input on an interrupted thread reports the interrupt it discards", async () => {
    const { thread_id, values } = await asked();
    const payload = { input: { topic: "weather" }, streamMode: "values" as const };
    const frames = await collect(client.runs.stream(thread_id, "approval", payload));
    expect(frames[0]).toMatchObject({
      event: "metadata",
      data: { discarded_interrupts: [values.__interrupt__[0]!.id] },
    });
  });

  test("a run can be stopped before a node and continued with no input", async () => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "steps", { input: {}, interruptBefore: ["two"] });
    const thread = await client.threads.get(thread_id);
    expect(thread).toMatchObject({ status: "interrupted", values: { log: ["one"] } });
    expect(Object.values(thread.interrupts ?? {}).flat()).toEqual([]);
    expect((await client.threads.getState(thread_id)).next).toEqual(["two"]);
    const values = await client.runs.wait(thread_id, "steps", { input: null });
    expect(values).toEqual({ log: ["one", "two", "three"] });
    expect((await client.threads.get(thread_id)).status).toBe("idle");
  });

  test("a run can be stopped after a node", async () => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "steps", { input: {}, interruptAfter: ["two"] });
    expect(await client.threads.getState(thread_id)).toMatchObject({
      values: { log: ["one", "two"] },
      next: ["three"],
    });
  });

  test("a run can be stopped before every node", async () => {
    const { thread_id } = await client.threads.create();
    const stops: unknown[] = [];
    for (const input of [{}, null, null, null]) {
      await client.runs.wait(thread_id, "steps", { input, interruptBefore: "*" });
      stops.push((await client.threads.getState(thread_id)).next);
    }
    expect(stops).toEqual([["one"], ["two"], ["three"], []]);
  });

  test("the state can be updated while a run is stopped", async () => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "steps", { input: {}, interruptBefore: ["two"] });
    await client.threads.updateState(thread_id, { values: { log: ["by hand"] } });
    expect((await client.threads.getState(thread_id)).next).toEqual(["two"]);
    const values = await client.runs.wait(thread_id, "steps", { input: null });
    expect(values).toEqual({ log: ["one", "by hand", "two", "three"] });
  });
});
