import { describe, expect, test } from "vitest";
import { sdks, url } from "./clients.ts";
import { collect, UNKNOWN_ID } from "./frames.ts";
import { request } from "./http.ts";

type Log = { log: string[] };

const slow = (steps = 50, ms = 100) => ({ input: { label: "c", steps, ms } });

describe.each(sdks)("cancelling over SDK $sdk", ({ client }) => {
  /** Returns a thread with a run that has completed at least one of its many steps. */
  const running = async () => {
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, "slow", slow());
    const done = async () => (await client.threads.getState<Log>(thread_id)).values.log?.length ?? 0;
    await expect.poll(done, { interval: 10 }).toBeGreaterThan(1);
    return { thread_id, run_id };
  };
  const status = async (thread_id: string, run_id: string) => (await client.runs.get(thread_id, run_id)).status;

  test("an interrupted run stops and its thread keeps the state reached", async () => {
    const { thread_id, run_id } = await running();
    await client.runs.cancel(thread_id, run_id);
    await expect.poll(() => status(thread_id, run_id)).toBe("interrupted");
    const { values } = await client.threads.getState<Log>(thread_id);
    expect(values.log.slice(0, 2)).toEqual(["c:begin", "c:1"]);
    expect(values.log.length).toBeLessThan(40);
    await new Promise((done) => setTimeout(done, 250));
    expect((await client.threads.getState<Log>(thread_id)).values).toEqual(values);
  });

  // The JavaScript dev server forgets the thread's values.
  test("the thread of an interrupted run keeps its values and can continue", async () => {
    const { thread_id, run_id } = await running();
    await client.runs.cancel(thread_id, run_id, true);
    const thread = await client.threads.get(thread_id);
    expect(thread.status).not.toBe("busy");
    expect((thread.values as unknown as Log).log.slice(0, 2)).toEqual(["c:begin", "c:1"]);
    const values = await client.runs.wait(thread_id, "slow", slow(1, 1));
    expect((values as unknown as Log).log.slice(-2)).toEqual(["c:begin", "c:1"]);
    expect((await client.threads.get(thread_id)).status).toBe("idle");
  });

  test("cancelling with wait returns when the run has stopped", async () => {
    const { thread_id, run_id } = await running();
    await client.runs.cancel(thread_id, run_id, true);
    expect(await status(thread_id, run_id)).toBe("interrupted");
  });

  test("the stream of an interrupted run ends without an error", async () => {
    const { thread_id, run_id } = await running();
    const reading = collect(client.runs.joinStream(thread_id, run_id));
    await client.runs.cancel(thread_id, run_id, true);
    expect((await reading).map((frame) => frame.event)).not.toContain("error");
  });

  // The JavaScript dev server keeps the run, in status error.
  test("a rolled-back run is gone, and its checkpoints with it", async () => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "slow", slow(1, 1));
    const before = await client.threads.getState<Log>(thread_id);
    const { run_id } = await client.runs.create(thread_id, "slow", slow());
    await expect.poll(() => status(thread_id, run_id), { interval: 10 }).toBe("running");
    await new Promise((done) => setTimeout(done, 250));
    await client.runs.cancel(thread_id, run_id, true, "rollback");
    await expect(client.runs.get(thread_id, run_id)).rejects.toThrow("HTTP 404: Run not found");
    const after = await client.threads.getState<Log>(thread_id);
    expect(after.values).toEqual(before.values);
    expect(after.checkpoint).toEqual(before.checkpoint);
    expect(await client.threads.get(thread_id)).toMatchObject({ status: "idle", values: before.values });
  });

  test("a pending run can be interrupted before it starts", async () => {
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, "counter", { input: { add: 1 }, afterSeconds: 60 });
    await client.runs.cancel(thread_id, run_id, true);
    expect(await status(thread_id, run_id)).toBe("interrupted");
    expect((await client.threads.get(thread_id)).status).toBe("idle");
  });

  // The JavaScript dev server leaves the thread busy.
  test("a pending run that is rolled back leaves an idle thread", async () => {
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, "counter", { input: { add: 1 }, afterSeconds: 60 });
    await client.runs.cancel(thread_id, run_id, true, "rollback");
    await expect(client.runs.get(thread_id, run_id)).rejects.toThrow("HTTP 404");
    expect((await client.threads.get(thread_id)).status).toBe("idle");
  });

  // The JavaScript dev server answers 204.
  test("a finished run cannot be cancelled", async () => {
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, "counter", { input: { add: 1 } });
    await client.runs.join(thread_id, run_id);
    await expect.poll(() => status(thread_id, run_id)).toBe("success");
    await expect(client.runs.cancel(thread_id, run_id)).rejects.toThrow("HTTP 409");
    expect(await status(thread_id, run_id)).toBe("success");
  });

  test("an unknown run cannot be cancelled", async () => {
    const { thread_id } = await client.threads.create();
    await expect(client.runs.cancel(thread_id, UNKNOWN_ID)).rejects.toThrow("HTTP 404");
  });
});

describe("cancelling over HTTP", () => {
  const started = async (body: object = {}) => {
    const { thread_id } = (await request("POST", "/threads", {})).json;
    const run = await request("POST", `/threads/${thread_id}/runs`, { assistant_id: "slow", ...slow(), ...body });
    const path = `/threads/${thread_id}/runs/${run.json.run_id}`;
    return { thread_id: thread_id as string, run_id: run.json.run_id as string, path };
  };

  // The JavaScript dev server waits for any value of wait, 0 included.
  test("cancel responds with 202 at once, or with 204 when it waits", async () => {
    const first = await started();
    expect(await request("POST", `${first.path}/cancel?wait=0`)).toMatchObject({ status: 202, text: "" });
    const second = await started();
    expect(await request("POST", `${second.path}/cancel?wait=1`)).toMatchObject({ status: 204, text: "" });
    expect((await request("GET", second.path)).json.status).toBe("interrupted");
    await expect.poll(async () => (await request("GET", first.path)).json.status).toBe("interrupted");
  });

  test("rejects an unknown action", async () => {
    const { path } = await started({ after_seconds: 60 });
    expect((await request("POST", `${path}/cancel?action=explode`)).status).toBe(422);
    await request("POST", `${path}/cancel?wait=1`);
  });

  test("a run that stays in user code for a long time is stopped at once", async () => {
    const { path } = await started({ input: { label: "long", steps: 1, ms: 120_000 } });
    await expect.poll(async () => (await request("GET", path)).json.status, { interval: 10 }).toBe("running");
    const before = Date.now();
    await request("POST", `${path}/cancel?wait=1`);
    expect(Date.now() - before).toBeLessThan(30_000);
  });

  // The JavaScript dev server does not track joined readers.
  test.each(["join", "stream"])("closing a %s with cancel_on_disconnect cancels the run", async (kind) => {
    const { path } = await started();
    const abort = new AbortController();
    const leaving = fetch(`${url}${path}/${kind}?cancel_on_disconnect=1`, { signal: abort.signal })
      .then((response) => response.text())
      .catch(() => "left");
    await expect.poll(async () => (await request("GET", path)).json.status, { interval: 10 }).toBe("running");
    // The request should be in flight by now.
    await new Promise((done) => setTimeout(done, 200));
    abort.abort();
    expect(await leaving).toBe("left");
    const status = async () => (await request("GET", path)).json.status;
    await expect.poll(status).toBe("interrupted");
  });

  test("join responds with 200 when its run is cancelled", async () => {
    const { path } = await started();
    const join = request("GET", `${path}/join`);
    await request("POST", `${path}/cancel?wait=1`);
    expect((await join).status).toBe(200);
  });
});
