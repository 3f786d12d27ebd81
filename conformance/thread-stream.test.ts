import { describe, expect, test } from "vitest";
import { sdks } from "./clients.ts";
import { collect } from "./frames.ts";

interface Part {
  id?: string;
  event: string;
  data: Record<string, unknown>;
}

// The JavaScript dev server has no thread streams.
const withThreadStreams = sdks.filter(({ client }) => "joinStream" in client.threads);

describe.each(withThreadStreams)("the stream of a thread over SDK $sdk", ({ client }) => {
  const input = { steps: 2, ms: 30, label: "t" };

  test("carries the frames and the end of each run, and continues after the last event id", async () => {
    const { thread_id } = await client.threads.create();
    const leave = new AbortController();
    const seen: Part[] = [];
    const reading = (async () => {
      for await (const part of client.threads.joinStream(thread_id, { signal: leave.signal, lastEventId: "-" })) {
        if (part.event) seen.push(part as Part);
      }
    })().catch(() => {});
    const ends = (parts: Part[]) => parts.filter(({ data }) => data["status"] === "run_done").length;
    for (let n = 0; n < 2; n++) {
      const options = { input, streamMode: ["values" as const, "custom" as const], streamResumable: true };
      const { run_id } = await client.runs.create(thread_id, "slow", options);
      await client.runs.join(thread_id, run_id);
    }
    await expect.poll(() => ends(seen)).toBe(2);
    leave.abort();
    await reading;
    expect(seen[0]!.event).toBe("metadata");
    expect(seen.filter(({ event }) => event === "custom")).toHaveLength(4);
    expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);

    const rest: Part[] = [];
    const middle = Math.floor(seen.length / 2);
    const again = client.threads.joinStream(thread_id, { lastEventId: seen[middle]!.id! });
    for await (const part of again) {
      if (part.event) rest.push(part as Part);
      if (ends(seen.slice(0, middle + 1)) + ends(rest) === 2) break;
    }
    expect(rest).toEqual(seen.slice(middle + 1));
  });

  test("carries only starts and ends in the lifecycle mode", async () => {
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, "slow", { input, streamResumable: true });
    await client.runs.join(thread_id, run_id);
    const parts: Part[] = [];
    for await (const part of client.threads.joinStream(thread_id, { streamMode: "lifecycle", lastEventId: "-" })) {
      if (part.event) parts.push(part as Part);
      if (parts.length === 2) break;
    }
    expect(parts.map(({ event, data }) => [event, data["attempt"] ?? data["status"]])).toEqual([
      ["metadata", 1],
      ["metadata", "run_done"],
    ]);
  });
});

describe.each(sdks)("a resumable stateless run over SDK $sdk", ({ client }) => {
  test("is replayed after its end, although its thread is deleted", async () => {
    let run_id = "";
    const own: Part[] = [];
    for await (const part of client.runs.stream(null, "slow", {
      input: { steps: 2, ms: 20, label: "s" },
      streamMode: ["custom"],
      streamResumable: true,
      onRunCreated: (run: { run_id: string }) => (run_id = run.run_id),
    })) {
      own.push(part as Part);
    }
    const replay = await collect(client.runs.joinStream(null, run_id, { lastEventId: "-1" }));
    expect(replay).toEqual(own.filter(({ event }) => event !== ""));
  });
});
