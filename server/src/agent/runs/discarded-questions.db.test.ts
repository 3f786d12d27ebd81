/** New input on a thread with pending interrupts: the response names the discarded ones. */
import { describe, expect, test } from "vitest";

import { questionServer } from "../../../test/questions.ts";

const { post, get, startInterrupted, start, ended, pending } = await questionServer();

describe("new input on a thread with interrupts", () => {
  test("reports which interrupts it discards", async () => {
    const threadId = await startInterrupted("parallel", {});
    const ids = (await pending(threadId)).map(({ id }) => id).sort();
    const created = await start(threadId, "parallel", { input: { ms: 0 } });
    expect(created.headers.get("x-discarded-interrupts")?.split(",").sort()).toEqual(ids);
    expect(created.json.discarded_interrupts.sort()).toEqual(ids);
    await ended(threadId);
    expect((await get(`/threads/${threadId}/runs/${created.json.run_id}`)).discarded_interrupts.sort()).toEqual(ids);
  });

  test("reports them in the first event of its stream, queued or not", async () => {
    const threadId = await startInterrupted("approval", { file: "-", ms: 0 });
    const body = { assistant_id: "approval", input: { ms: 0 } };
    const streamed = await post(`/threads/${threadId}/runs/stream`, body);
    expect(streamed.headers.get("x-discarded-interrupts")).toMatch(/^[0-9a-f]{32}$/);
    expect(streamed.text).toMatch(/^event: metadata\ndata: .*"discarded_interrupts":\["[0-9a-f]{32}"\]/);
    await start(threadId, "approval", { input: { ms: 0 } });
    const queued = await post(`/threads/${threadId}/runs/stream`, body);
    expect(queued.text).toMatch(/^event: metadata\ndata: .*"discarded_interrupts":\["[0-9a-f]{32}"\]/);
  });

  test("reports them where the command is empty", async () => {
    const threadId = await startInterrupted("approval", { file: "-", ms: 0 });
    const ids = (await pending(threadId)).map(({ id }) => id);
    const created = await start(threadId, "approval", { input: { ms: 0, log: ["input"] }, command: {} });
    expect(created.json.discarded_interrupts).toEqual(ids);
    await ended(threadId);
    expect((await get(`/threads/${threadId}`)).values.log).toEqual(["input"]);
  });

  test("reports nothing where nothing is discarded", async () => {
    const threadId = await startInterrupted("approval", { file: "-", ms: 0 });
    const continued = await start(threadId, "approval", { input: null });
    expect(continued.headers.get("x-discarded-interrupts")).toBeNull();
    expect(continued.json.discarded_interrupts).toBeNull();
  });

  describe("with `__pregel_resuming`, which a remote graph sends when its parent is resumed", () => {
    const startWith = (threadId: string, value: unknown) =>
      start(threadId, "approval", {
        input: { ms: 5, log: ["input"] },
        config: { configurable: { __pregel_resuming: value } },
      });

    test("continues at the interrupt, which is not discarded, and does not use the input", async () => {
      const threadId = await startInterrupted("approval", { file: "-", ms: 0 });
      const [asked, { values }] = [await pending(threadId), await get(`/threads/${threadId}`)];
      const { headers, json } = await startWith(threadId, true);
      expect([headers.get("x-discarded-interrupts"), json.discarded_interrupts]).toEqual([null, null]);
      await ended(threadId);
      expect(await pending(threadId)).toEqual(asked);
      expect((await get(`/threads/${threadId}`)).values).toEqual(values);
    });

    test("names the discarded interrupts where the value is not true", async () => {
      for (const value of [false, "true", 1]) {
        const threadId = await startInterrupted("approval", { file: "-", ms: 0 });
        const ids = (await pending(threadId)).map(({ id }) => id);
        expect((await startWith(threadId, value)).json.discarded_interrupts).toEqual(ids);
        await ended(threadId);
        expect((await get(`/threads/${threadId}`)).values.log).toEqual(["input"]);
      }
    });
  });
});
