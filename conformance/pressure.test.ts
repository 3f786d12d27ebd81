import { request as httpRequest, type IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { client, url } from "./clients.ts";
import { eventData, collect } from "./frames.ts";
import { request } from "./http.ts";

const FRAMES = 1_500;
const BYTES = 8_000;

/** Opens a stream and reads nothing from it until requested. */
function stalledReader(path: string): Promise<IncomingMessage> {
  return new Promise((done, fail) => {
    httpRequest(url + path, (response) => done(response.pause()))
      .on("error", fail)
      .end();
  });
}

describe("a reader that stops reading", () => {
  test("slows neither the run nor another reader", async () => {
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, "flood", {
      input: { frames: FRAMES, bytes: BYTES },
      streamMode: "custom",
      streamResumable: true,
      afterSeconds: 0.3,
    });
    const stalled = await stalledReader(`/threads/${thread_id}/runs/${run_id}/stream`);
    const frames = await collect(client.runs.joinStream(thread_id, run_id, { lastEventId: "-1" }));
    const numbers = eventData(frames, "custom").map((data) => data.n);
    expect(numbers).toEqual(Array.from({ length: FRAMES }, (_, n) => n));
    expect((await client.runs.get(thread_id, run_id)).status).toBe("success");
    expect((await request("GET", "/ok")).status).toBe(200);
    stalled.destroy();
  });

  test("receives the missed frames when it reads again", async () => {
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, "flood", {
      input: { frames: FRAMES, bytes: BYTES },
      streamMode: "custom",
      streamResumable: true,
      afterSeconds: 0.3,
    });
    const stalled = await stalledReader(`/threads/${thread_id}/runs/${run_id}/stream`);
    await client.runs.join(thread_id, run_id);
    let text = "";
    for await (const chunk of stalled.setEncoding("utf8")) text += chunk;
    const numbers = [...text.matchAll(/"n":(\d+)/g)].map(([, n]) => Number(n));
    // The server may drop a slow reader, but the frames it did send have no gap.
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, n) => n));
    const lastId = [...text.matchAll(/^id: ?(.*)$/gm)].at(-1)![1]!;
    const rest = await collect(client.runs.joinStream(thread_id, run_id, { lastEventId: lastId }));
    expect(numbers.length + eventData(rest, "custom").length).toBe(FRAMES);
  });
});
