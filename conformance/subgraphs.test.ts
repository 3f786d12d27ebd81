import { describe, expect, test } from "vitest";
import { sdks } from "./clients.ts";
import { has } from "./features.ts";
import { collect, eventData } from "./frames.ts";

const CHILD = /^child:[0-9a-f-]{36}$/;
const GRANDCHILD = /^child:[0-9a-f-]{36}\|grandchild:[0-9a-f-]{36}$/;

describe.each(sdks)("subgraph streaming over SDK $sdk", ({ client }) => {
  const streamed = async (payload: object) => {
    const { thread_id } = await client.threads.create();
    return collect(client.runs.stream(thread_id, "nested", { input: { ask: false }, ...payload }));
  };
  /** Returns the namespaces of a mode's frames. */
  const places = (frames: { event: string }[], mode: string) =>
    frames
      .filter((frame) => frame.event.split("|")[0] === mode)
      .map((frame) => frame.event.split("|").slice(1).join("|"));

  test("without subgraphs only the root's frames are sent", async () => {
    const frames = await streamed({ streamMode: ["updates", "custom"] });
    expect(frames.every((frame) => !frame.event.includes("|"))).toBe(true);
    expect(eventData(frames, "updates").map((update) => Object.keys(update)[0])).toEqual(["enter", "child"]);
  });

  test("with subgraphs each frame carries its namespace", async () => {
    const frames = await streamed({ streamMode: ["updates"], streamSubgraphs: true });
    expect(places(frames, "updates")).toEqual([
      "",
      expect.stringMatching(CHILD),
      expect.stringMatching(GRANDCHILD),
      expect.stringMatching(CHILD),
      "",
    ]);
  });

  const modes = (["values", "custom", "debug", "tasks"] as const).filter(
    (mode) =>
      (mode !== "custom" || has("namespaces of mode custom")) &&
      (mode !== "tasks" || has("stream modes tasks and checkpoints")),
  );
  test.each(modes)("%s includes frames of the grandchild", async (mode) => {
    const found = places(await streamed({ streamMode: [mode], streamSubgraphs: true }), mode);
    expect(found).toContain("");
    expect(found).toContainEqual(expect.stringMatching(CHILD));
    expect(found).toContainEqual(expect.stringMatching(GRANDCHILD));
  });

  test("custom frames arrive in the order of the nodes, each from its own graph", async () => {
    const frames = await streamed({ streamMode: ["custom"], streamSubgraphs: true });
    expect(frames.slice(1).map((frame) => frame.data.from)).toEqual(["enter", "before", "deep"]);
  });

  // The JavaScript dev server adds unrequested checkpoints frames.
  test("only the requested modes are sent", async () => {
    const frames = await streamed({ streamMode: ["values"], streamSubgraphs: true });
    const modes = new Set(frames.map((frame) => frame.event.split("|")[0]));
    expect([...modes].sort()).toEqual(["metadata", "values"]);
  });

  test("a joiner that requests a mode gets it from each namespace", async () => {
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, "nested", {
      input: { ask: false },
      streamMode: ["updates", "values"],
      streamSubgraphs: true,
      streamResumable: true,
    });
    const options = { streamMode: ["updates" as const], lastEventId: "-1" };
    const frames = await collect(client.runs.joinStream(thread_id, run_id, options));
    expect(places(frames, "updates")).toHaveLength(5);
    expect(places(frames, "values")).toEqual([]);
  });

  test("an interrupt inside a subgraph appears at each level and can be resumed", async () => {
    const { thread_id } = await client.threads.create();
    const asked = await collect(
      client.runs.stream(thread_id, "nested", { input: { ask: true }, streamMode: ["updates"], streamSubgraphs: true }),
    );
    expect(asked.at(-1)).toMatchObject({ event: "updates", data: { __interrupt__: [{ value: "deep question" }] } });
    expect((await client.threads.get(thread_id)).status).toBe("interrupted");
    const resumed = await client.runs.wait(thread_id, "nested", { command: { resume: "answered" } });
    expect(resumed).toMatchObject({ log: expect.arrayContaining(["deep:answered"]) });
    expect((await client.threads.get(thread_id)).status).toBe("idle");
  });

  // The JavaScript dev server returns the values of whichever graph wrote the last checkpoint.
  test("a thread that waits inside a subgraph has the root's values", async () => {
    const { thread_id } = await client.threads.create();
    await collect(client.runs.stream(thread_id, "nested", { input: { ask: true }, streamSubgraphs: true }));
    expect((await client.threads.get(thread_id)).values).toEqual({ ask: true, log: ["enter"] });
  });
});
