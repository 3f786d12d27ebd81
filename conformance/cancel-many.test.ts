import { describe, expect, test } from "vitest";
import { client } from "./clients.ts";
import { UNKNOWN_ID } from "./frames.ts";
import { request } from "./http.ts";

// The JavaScript dev server does not have this path.
describe("cancelling many runs over SDK 1.15.0", () => {
  const waiting = async (thread_id: string) =>
    (await client.runs.create(thread_id, "counter", { input: {}, afterSeconds: 60, multitaskStrategy: "enqueue" }))
      .run_id;

  test("cancels runs of a thread by their ids", async () => {
    const { thread_id } = await client.threads.create();
    const runIds = [await waiting(thread_id), await waiting(thread_id)];
    const kept = await waiting(thread_id);
    await client.runs.cancelMany({ threadId: thread_id, runIds, action: "interrupt" });
    for (const run_id of runIds) {
      await expect.poll(async () => (await client.runs.get(thread_id, run_id)).status).toBe("interrupted");
    }
    expect((await client.runs.get(thread_id, kept)).status).toBe("pending");
    await client.runs.cancelMany({ threadId: thread_id, runIds: [kept], action: "rollback" });
    const gone = () => client.runs.get(thread_id, kept).catch((error: Error) => error.message);
    await expect.poll(gone).toContain("HTTP 404");
  });

  test("cancels all pending runs by their status", async () => {
    const { thread_id } = await client.threads.create();
    const run_id = await waiting(thread_id);
    await client.runs.cancelMany({ status: "pending" });
    await expect.poll(async () => (await client.runs.get(thread_id, run_id)).status).toBe("interrupted");
    await expect(client.runs.cancelMany({ status: "pending" })).rejects.toThrow("HTTP 404");
  });

  test("rejects a request with both run ids and a status, or neither", async () => {
    const body = { thread_id: UNKNOWN_ID, run_ids: [UNKNOWN_ID], status: "all" };
    expect((await request("POST", "/runs/cancel", body)).status).toBe(422);
    expect((await request("POST", "/runs/cancel", {})).status).toBe(422);
  });
});
