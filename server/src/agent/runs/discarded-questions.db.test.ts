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

  test("reports nothing where nothing is discarded", async () => {
    const threadId = await startInterrupted("approval", { file: "-", ms: 0 });
    const continued = await start(threadId, "approval", { input: null });
    expect(continued.headers.get("x-discarded-interrupts")).toBeNull();
    expect(continued.json.discarded_interrupts).toBeNull();
  });
});
