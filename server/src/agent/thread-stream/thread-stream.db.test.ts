import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test, vi } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { startAgentServer } from "../../main.ts";

const config = fileURLToPath(new URL("../../../test/fixtures/agent-project/langgraph.json", import.meta.url));
const db = await testDatabase();
const dataDir = mkdtempSync(join(tmpdir(), "heddle-thread-stream-"));
vi.stubEnv("HEDDLE_HOSTS", "1");
const database = { uri: db.uri, socket: db.options.host ?? null };
const start = () => startAgentServer({ config, host: "127.0.0.1", port: 0, dataDir, database, reload: false });
const owner = await start();
const other = await start();
await Promise.all([owner.graphs, other.graphs]);
afterAll(async () => {
  await Promise.all([owner.close(), other.close()]);
  rmSync(dataDir, { recursive: true, force: true });
  vi.unstubAllEnvs();
});

async function post(url: string, path: string, body: unknown) {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
  return response.json() as Promise<{ thread_id: string; run_id: string }>;
}

interface Frame {
  event: string;
  data: Record<string, unknown>;
  id: string | undefined;
}

/** Opens the stream and reads until `count` frames have arrived. */
async function open(url: string, threadId: string, options: { query?: string; lastEventId?: string } = {}) {
  const leave = new AbortController();
  const response = await fetch(`${url}/threads/${threadId}/stream${options.query ?? ""}`, {
    headers: options.lastEventId === undefined ? {} : { "Last-Event-ID": options.lastEventId },
    signal: leave.signal,
  });
  const frames: Frame[] = [];
  const reading = (async () => {
    let rest = "";
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      const parts = (rest + chunk).split("\n\n");
      rest = parts.pop()!;
      for (const text of parts) {
        if (text.startsWith(":")) continue;
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(text)?.[1];
        frames.push({ event: field("event")!, data: JSON.parse(field("data")!), id: field("id") });
      }
    }
  })().catch(() => {});
  const ended = reading.then(() => "ended");
  const close = async () => {
    leave.abort();
    await reading;
  };
  const until = async (count: number) => {
    await expect.poll(() => frames.length).toBe(count);
  };
  return { response, frames, until, close, ended };
}

const trail = { assistant_id: "trail", input: { log: ["in"] }, stream_mode: ["updates"] };
const run = (url: string, threadId: string, more: object = {}) =>
  post(url, `/threads/${threadId}/runs/wait`, { ...trail, ...more });
const newThread = async () => (await post(owner.url, "/threads", {})).thread_id;

test(
  "streams the frames and ends of all runs of a thread, whichever server executes them",
  { timeout: 30_000 },
  async () => {
    const thread = await newThread();
    await run(owner.url, thread);
    const [near, far] = [await open(owner.url, thread), await open(other.url, thread)];
    expect(near.response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    await run(owner.url, thread, { stream_resumable: true });
    await run(other.url, thread, { stream_resumable: true });
    for (const reader of [near, far]) {
      await expect.poll(() => reader.frames.filter(({ data }) => data["status"] === "run_done").length).toBe(2);
    }
    expect(far.frames).toEqual(near.frames);
    const events = near.frames.map(({ event }) => event);
    expect(events[0]).toBe("metadata");
    expect(events).toContain("updates");
    const runs = new Set(near.frames.map(({ id }) => id!.split(":")[0]));
    expect(runs.size).toBe(2);
    await Promise.all([near.close(), far.close()]);

    // a reader resumes after its last frame, at any server, from any frame
    for (const [i, { id }] of near.frames.entries()) {
      if (i % 3 !== 0) continue;
      const again = await open(i % 2 ? owner.url : other.url, thread, { lastEventId: id! });
      await again.until(near.frames.length - i - 1);
      expect(again.frames).toEqual(near.frames.slice(i + 1));
      await again.close();
    }
    // the beginning is that of the first run
    const all = await open(owner.url, thread, { lastEventId: "-" });
    await expect.poll(() => all.frames.filter(({ data }) => data["status"] === "run_done").length).toBe(3);
    expect(all.frames.slice(-near.frames.length)).toEqual(near.frames);
    await all.close();
  },
);

test("lifecycle emits only starts and ends of runs, state_update only the state", { timeout: 20_000 }, async () => {
  const thread = await newThread();
  await run(owner.url, thread);
  const life = await open(owner.url, thread, { query: "?stream_mode=lifecycle" });
  const states = await open(other.url, thread, { query: `?stream_modes=${encodeURIComponent('["state_update"]')}` });
  await run(owner.url, thread);
  await life.until(2);
  expect(life.frames.map(({ event, data }) => [event, data["attempt"] ?? data["status"]])).toEqual([
    ["metadata", 1],
    ["metadata", "run_done"],
  ]);
  await states.until(1);
  await post(owner.url, `/threads/${thread}/state`, { values: { log: ["by hand"] }, as_node: "__start__" });
  await states.until(2);
  expect(states.frames.map(({ event }) => event)).toEqual(["state_update", "state_update"]);
  expect(JSON.stringify(states.frames[1]!.data["values"])).toContain("by hand");
  await Promise.all([life.close(), states.close()]);
});

test("ends the stream of a deleted thread, and rejects unknown threads and invalid ids", async () => {
  const thread = await newThread();
  const reader = await open(other.url, thread);
  await fetch(`${owner.url}/threads/${thread}`, { method: "DELETE" });
  await expect(Promise.race([reader.ended, sleep(20_000, "open")])).resolves.toBe("ended");
  await reader.close();
  const status = async (id: string, lastEventId?: string, query?: string) => {
    const { response, close } = await open(owner.url, id, {
      ...(lastEventId && { lastEventId }),
      ...(query && { query }),
    });
    await close();
    return response.status;
  };
  expect(await status(thread)).toBe(404);
  const there = await newThread();
  for (const wrong of ["5", "x:1", `${there}:`, `${there}:1:2`, `${there}:99999999999`]) {
    expect(await status(there, wrong)).toBe(422);
  }
  expect(await status(there, undefined, "?stream_mode=values")).toBe(422);
  expect(await status(there, `${there}:5`)).toBe(200);
});
