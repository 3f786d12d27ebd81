/** Timers and signals on a real server with a real host, with the graph of examples/steps in either language. */
import { setTimeout as sleep } from "node:timers/promises";

import { describe, expect, test } from "vitest";

import { testAgentServer } from "./agent-server.ts";
import { testDatabase } from "./db.ts";

export async function describeWaits(env: Record<string, string>, project: string): Promise<void> {
  const db = await testDatabase();
  let server = await testAgentServer(env, project, { db });
  const post = (path: string, body: object = {}, headers: Record<string, string> = {}) =>
    server.call("POST", path, body, headers);
  const get = async (path: string) => (await server.call("GET", path)).json;

  async function newThread(): Promise<string> {
    return (await post("/threads")).json.thread_id as string;
  }
  const wait = (threadId: string, input: object) =>
    post(`/threads/${threadId}/runs/wait`, { assistant_id: "steps", input: { log: [], ...input } });

  /** Returns the log of the thread once it has this many entries and no run is active. */
  async function log(threadId: string, length: number): Promise<string[]> {
    for (;;) {
      const { status, values } = await get(`/threads/${threadId}`);
      if (status === "error") throw new Error(JSON.stringify(await get(`/threads/${threadId}`)));
      if (status !== "busy" && values?.log.length >= length) return values.log;
      await sleep(20);
    }
  }
  const runs = async (threadId: string) => (await get(`/threads/${threadId}/runs`)) as { metadata: object }[];

  describe.concurrent("a signal", () => {
    test("resumes the thread that waits for it, once per key", async () => {
      const threadId = await newThread();
      await wait(threadId, {});
      expect(await get(`/threads/${threadId}/signals`)).toMatchObject({ waits: [{ signal: "paid" }], signals: [] });
      const sent = [1, 2, 3].map(() => post(`/threads/${threadId}/signals/paid`, { payload: { amount: 7 }, key: "k" }));
      const created = (await Promise.all(sent)).map(({ json }) => json.created);
      expect(created.filter(Boolean)).toHaveLength(1);
      const [invoice, paid, parcel] = await log(threadId, 3);
      expect([invoice, paid, parcel]).toEqual([
        expect.stringMatching(/^invoice [0-9a-f]{32}$/),
        "paid 7",
        expect.stringMatching(/^parcel [0-9a-f]{32}$/),
      ]);
      const [resumed, first] = await runs(threadId);
      expect(first).toBeDefined();
      expect(resumed!.metadata).toMatchObject({ heddle_resumed_by: "paid" });
      expect(await get(`/threads/${threadId}/signals`)).toMatchObject({ waits: [], signals: [{ key: "k" }] });
    });

    test("that comes before the wait is kept, one wait takes one signal", async () => {
      const threadId = await newThread();
      await post(`/threads/${threadId}/signals/paid`, { payload: { amount: 1 } }, { "idempotency-key": "a" });
      await post(`/threads/${threadId}/signals/paid`, { payload: { amount: 2 } }, { "idempotency-key": "b" });
      await post(`/threads/${threadId}/signals/other`);
      await wait(threadId, {});
      expect((await log(threadId, 3))[1]).toBe("paid 1");
      const { signals } = await get(`/threads/${threadId}/signals`);
      expect(signals.map(({ run_id }: { run_id: string | null }) => run_id === null)).toEqual([false, true, true]);
      await wait(threadId, {});
      expect((await log(threadId, 6))[4]).toBe("paid 2");
      expect(await runs(threadId)).toHaveLength(4);
      await server.call("DELETE", `/threads/${threadId}`);
      expect(await db.sql`select 1 from thread_signals where thread_id = ${threadId}`).toHaveLength(0);
    });

    test("is refused for unknown threads and bad names", async () => {
      expect((await post("/threads/00000000-0000-4000-8000-000000000000/signals/paid")).status).toBe(404);
      expect((await post(`/threads/${await newThread()}/signals/${encodeURIComponent("a b")}`)).status).toBe(422);
    });

    test("does nothing where a client has answered or new input has discarded the question", async () => {
      const threadId = await newThread();
      await wait(threadId, {});
      await post(`/threads/${threadId}/runs/wait`, {
        assistant_id: "steps",
        command: { resume: { signal: "paid", payload: { amount: 3 } } },
      });
      expect((await log(threadId, 3))[1]).toBe("paid 3");
      await post(`/threads/${threadId}/signals/paid`, { payload: { amount: 4 } });
      await sleep(300);
      expect(await runs(threadId)).toHaveLength(2);
    });
  });

  describe("a timer", () => {
    test("ends a wait for a signal that does not come", async () => {
      const threadId = await newThread();
      await wait(threadId, { patience: 0.3 });
      expect((await log(threadId, 3)).slice(1)).toEqual(["not paid", "cancelled"]);
      expect((await runs(threadId))[0]!.metadata).toMatchObject({ heddle_resumed_by: "timer" });
    });

    test("survives the server, and fires once with two servers", async () => {
      const threadId = await newThread();
      await post(`/threads/${threadId}/signals/paid`, { payload: { amount: 1 } });
      await wait(threadId, { packing: 2 });
      await log(threadId, 2);
      await server.stop();
      server = await testAgentServer(env, project, { db });
      await testAgentServer(env, project, { db });
      expect(await log(threadId, 3)).toHaveLength(3);
      await sleep(1200);
      expect(await runs(threadId)).toHaveLength(3);
    });
  });
}
