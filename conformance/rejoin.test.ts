import { describe, expect, test } from "vitest";
import { sdks } from "./clients.ts";
import { collect, sleep, UNKNOWN_ID } from "./frames.ts";
import { openStream, request } from "./http.ts";

const slow = (steps: number, ms: number) => ({ steps, ms, label: "r" });

describe.each(sdks)("joining a stream over SDK $sdk", ({ client }) => {
  const started = async (input: Record<string, unknown>, options: object = {}) => {
    const { thread_id } = await client.threads.create();
    const run = await client.runs.create(thread_id, "slow", {
      input,
      streamMode: ["values", "custom"],
      ...options,
    });
    return { thread_id, run_id: run.run_id };
  };

  test("a late joiner of a running run gets the earlier frames and the rest", async () => {
    const { thread_id, run_id } = await started(slow(3, 150));
    await sleep(250);
    const frames = await collect(client.runs.joinStream(thread_id, run_id));
    expect(frames[0]).toMatchObject({ event: "metadata", data: { run_id } });
    const ticks = frames.filter((frame) => frame.event === "custom").map((frame) => frame.data.tick);
    expect(ticks).toEqual([1, 2, 3]);
    expect(frames.at(-1)).toMatchObject({ event: "values", data: { tick: 3 } });
  });

  // The JavaScript dev server delivers each frame to only one of the readers.
  test("several readers of one run each get every frame", async () => {
    const { thread_id, run_id } = await started(slow(4, 80));
    const readers = [0, 30, 60, 120].map(async (delay) => {
      await sleep(delay);
      return collect(client.runs.joinStream(thread_id, run_id));
    });
    const [first, ...others] = await Promise.all(readers);
    expect(first!.map((frame) => frame.event)).toContain("custom");
    expect(first!.length).toBeGreaterThan(8);
    for (const other of others) expect(other).toEqual(first);
  });

  test("the creator's stream and a joiner's stream are equal", async () => {
    const { thread_id } = await client.threads.create();
    let joined: Promise<unknown[]> | undefined;
    const own: unknown[] = [];
    const payload = { input: slow(3, 60), streamMode: ["values", "custom"] as ("values" | "custom")[] };
    for await (const frame of client.runs.stream(thread_id, "slow", {
      ...payload,
      streamResumable: true,
      onRunCreated: ({ run_id }) =>
        (joined = collect(client.runs.joinStream(thread_id, run_id, { lastEventId: "-1" }))),
    })) {
      own.push(frame);
    }
    expect(await joined).toEqual(own.filter((frame) => (frame as { event: string }).event !== ""));
  });

  test("a resumable run is replayed from its beginning with the same ids, also after its end", async () => {
    const { thread_id, run_id } = await started(slow(2, 20), { streamResumable: true });
    const live = await collect(client.runs.joinStream(thread_id, run_id, { lastEventId: "-1" }));
    const replay = await collect(client.runs.joinStream(thread_id, run_id, { lastEventId: "-1" }));
    expect(live.length).toBeGreaterThan(4);
    expect(live.every((frame) => frame.id !== undefined)).toBe(true);
    expect(new Set(live.map((frame) => frame.id)).size).toBe(live.length);
    expect(replay).toEqual(live);
  });

  test("a resumable run continues after the last event id", async () => {
    const { thread_id, run_id } = await started(slow(2, 20), { streamResumable: true });
    const all = await collect(client.runs.joinStream(thread_id, run_id, { lastEventId: "-1" }));
    for (const seen of [0, 2, all.length - 2]) {
      const rest = await collect(client.runs.joinStream(thread_id, run_id, { lastEventId: all[seen]!.id! }));
      expect(rest).toEqual(all.slice(seen + 1));
    }
  });

  test("a resumable run can be left and rejoined while it runs", async () => {
    const { thread_id, run_id } = await started(slow(4, 100), { streamResumable: true });
    const seen: { id?: string; event: string }[] = [];
    for await (const frame of client.runs.joinStream(thread_id, run_id, { lastEventId: "-1" })) {
      seen.push(frame);
      if (frame.event === "custom") break;
    }
    const rest = await collect(client.runs.joinStream(thread_id, run_id, { lastEventId: seen.at(-1)!.id! }));
    const replay = await collect(client.runs.joinStream(thread_id, run_id, { lastEventId: "-1" }));
    expect([...seen, ...rest]).toEqual(replay);
  });

  // The JavaScript dev server ignores the modes of a joining reader.
  test("a joiner gets only the modes it requests", async () => {
    const { thread_id, run_id } = await started(slow(2, 50));
    const frames = await collect(client.runs.joinStream(thread_id, run_id, { streamMode: ["custom"] }));
    const modes = new Set(frames.map((frame) => frame.event));
    modes.delete("metadata");
    expect([...modes]).toEqual(["custom"]);
  });

  test("the last frame of a background run that fails is its error", async () => {
    const { thread_id } = await client.threads.create();
    const run = await client.runs.create(thread_id, "failing", { input: { reason: "late" } });
    const frames = await collect(client.runs.joinStream(thread_id, run.run_id));
    expect(frames.at(-1)).toMatchObject({ event: "error", data: { message: expect.stringContaining("late") } });
  });

  test("joining a stateless run needs no thread", async () => {
    const run = await client.runs.create(null, "slow", { input: slow(2, 100), streamMode: ["custom"] });
    const frames = await collect(client.runs.joinStream(null, run.run_id));
    expect(frames.filter((frame) => frame.event === "custom")).toHaveLength(2);
  });

  test("a reader that disconnects does not affect the run", async () => {
    const { thread_id } = await client.threads.create();
    const abort = new AbortController();
    let run_id = "";
    const payload = {
      input: slow(3, 80),
      signal: abort.signal,
      onRunCreated: (run: { run_id: string }) => (run_id = run.run_id),
    };
    const reading = collect(client.runs.stream(thread_id, "slow", payload)).catch(() => "left");
    await expect.poll(() => run_id).not.toBe("");
    abort.abort();
    await reading;
    expect(await client.runs.join(thread_id, run_id)).toMatchObject({ tick: 3 });
    expect((await client.runs.get(thread_id, run_id)).status).toBe("success");
  });

  test("a reader that disconnects cancels the run on request", async () => {
    const { thread_id } = await client.threads.create();
    const abort = new AbortController();
    let run_id = "";
    const reading = collect(
      client.runs.stream(thread_id, "slow", {
        input: slow(40, 100),
        signal: abort.signal,
        onDisconnect: "cancel",
        onRunCreated: (run) => (run_id = run.run_id),
      }),
    ).catch(() => "left");
    await expect.poll(async () => run_id && (await client.runs.get(thread_id, run_id)).status).toBe("running");
    abort.abort();
    await reading;
    const status = async () => (await client.runs.get(thread_id, run_id)).status;
    await expect.poll(status).toBe("interrupted");
  });
});

describe("streams over HTTP", () => {
  const thread = async () => (await request("POST", "/threads", {})).json.thread_id as string;

  test("the headers carry the run's location and the content type before the first frame", async () => {
    const id = await thread();
    const body = { assistant_id: "slow", input: slow(1, 300), stream_mode: "custom" };
    const stream = await openStream("POST", `/threads/${id}/runs/stream`, body);
    const { headers } = stream.response;
    const place = headers.get("content-location")!;
    expect(place).toMatch(new RegExp(`^/threads/${id}/runs/[0-9a-f-]{36}$`));
    expect(headers.get("content-type")).toContain("text/event-stream");
    // proxies neither buffer nor compress the stream
    expect(headers.get("cache-control")).toBe("no-cache, no-transform");
    expect(headers.get("x-accel-buffering")).toBe("no");
    // Content-Location already resolves before the run ends.
    expect((await request("GET", place)).json.status).toBeOneOf(["pending", "running"]);
    const frames = await collect(stream.frames);
    expect(frames[0]).toMatchObject({ event: "metadata", data: { run_id: place.split("/").at(-1) } });
    expect(frames.map((frame) => frame.event)).not.toContain("end");
  });

  test("a silent stream carries heartbeats", async () => {
    const body = { assistant_id: "slow", input: slow(1, 6_500), stream_mode: "custom" };
    const stream = await openStream("POST", "/runs/stream", body);
    await collect(stream.frames);
    expect(stream.comments.length).toBeGreaterThan(0);
  });

  // The JavaScript dev server answers 200 with an error frame, or nothing.
  test("the stream of an unknown run is not found", async () => {
    for (const path of [`/threads/${await thread()}/runs/${UNKNOWN_ID}`, `/runs/${UNKNOWN_ID}`]) {
      const stream = await openStream("GET", `${path}/stream`);
      stream.close();
      expect(stream.response.status).toBe(404);
    }
  });

  // The JavaScript dev server answers 200 with an __error__.
  test("joining an unknown run is not found", async () => {
    expect((await request("GET", `/threads/${await thread()}/runs/${UNKNOWN_ID}/join`)).status).toBe(404);
  });

  test("the stream of a finished run that is not resumable ends at once", async () => {
    const id = await thread();
    const run = await request("POST", `/threads/${id}/runs`, { assistant_id: "counter", input: {} });
    await request("GET", `/threads/${id}/runs/${run.json.run_id}/join`);
    const before = Date.now();
    const stream = await openStream("GET", `/threads/${id}/runs/${run.json.run_id}/stream`);
    await collect(stream.frames);
    expect(stream.response.status).toBe(200);
    expect(Date.now() - before).toBeLessThan(10_000);
  });
});
