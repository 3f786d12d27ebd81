import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { HostProcess, type RunHandle } from "../test/host-process.ts";

const GRAPHS = { trouble: "./trouble.ts:trouble", echo: "./echo.ts:graph" };
const LIMIT = 60_000;

describe("a running host", () => {
  let host: HostProcess;
  beforeAll(async () => void (host = await HostProcess.start("agents", GRAPHS)));
  afterAll(() => host.stop());

  test.each([
    ["throw outside", "out of nowhere"],
    ["reject unheard", "unheard"],
  ])("ends only the run that caused an uncaught error: %s", async (deed, message) => {
    const beside = host.start("trouble", { input: { do: "wait a little" } });
    const run = host.start("trouble", { input: { do: deed } });
    await Promise.all([beside.end, run.end]);
    expect(run.outcome).toMatchObject({ outcome: "error", error: { error: "CustomError", message } });
    expect(run.events.at(-1)).toEqual({ event: "error", data: { error: "CustomError", message } });
    expect(beside.result.values.value).toBe("waited");
    expect((await host.run("trouble", { input: { do: "nothing" } })).outcome.outcome).toBe("success");
  });

  test("answers a ping with the memory in use", async () => {
    const pong = host.frame((header) => header.t === "pong");
    host.send({ t: "ping", n: 7 });
    expect((await pong).header).toEqual({ t: "pong", n: 7, rss: expect.any(Number), heap: expect.any(Number) });
  });

  test("ignores SIGINT and SIGTERM", async () => {
    host.child.kill("SIGINT");
    host.child.kill("SIGTERM");
    // handled after the signals
    const pong = host.frame((header) => header.t === "pong");
    host.send({ t: "ping", n: 8 });
    await pong;
    expect((await host.run("trouble", { input: { do: "nothing" } })).outcome.outcome).toBe("success");
  });

  test("hides the database from user code", async () => {
    const { result } = await host.run("trouble", { input: { do: "read the environment" } });
    expect(result.values.value).toEqual([]);
  });

  test("writes events that follow each other at most once a millisecond", async () => {
    const before = host.reads;
    const startedAt = performance.now();
    const run = await host.run("trouble", { input: { do: "stream tokens" }, stream_mode: ["custom"] });
    const most = performance.now() - startedAt + 20;
    expect(run.data("custom").map(({ n }) => n)).toEqual(Array.from({ length: 10_000 }, (_, n) => n));
    expect(host.reads - before).toBeLessThan(most);
  });

  test("sends the last gathered events without waiting for others", async () => {
    const run = host.start("trouble", { input: { do: "stream, then pause" }, stream_mode: ["custom"] });
    await expect.poll(() => run.data("custom").length).toBe(5);
    host.send({ t: "run.cancel", run_id: run.runId, reason: "enough" });
    await run.end;
  });

  test("slows its events to a server that stops reading, and delivers all of them", async () => {
    const flood = host.start("trouble", { input: { do: "flood" }, stream_mode: ["custom"] });
    host.pauseReading();
    await sleep(1500);
    expect(flood.events).toEqual([]);
    host.resumeReading();
    await flood.end;
    expect(flood.data("custom").map(({ n }) => n)).toEqual(Array.from({ length: 400 }, (_, n) => n));
  });
});

describe("a host exits", () => {
  let host: HostProcess;
  afterEach(() => host.stop());

  async function begin(deed: string, env?: Record<string, string>): Promise<RunHandle> {
    host = await HostProcess.start("agents", GRAPHS, env);
    const run = host.start("trouble", { input: { do: deed } });
    // user code that blocks emits no event to wait for
    await sleep(500);
    return run;
  }

  test("at an error that belongs to no run, and reports it", { timeout: LIMIT }, async () => {
    host = await HostProcess.start("agents", GRAPHS);
    const fault = host.frame((header) => header.t === "fault");
    const run = host.start("trouble", { input: { do: "break the process" } });
    expect((await fault).header).toMatchObject({ message: expect.stringContaining("nobody's") });
    expect(await host.exited).toEqual({ code: 70, signal: null });
    await expect(run.end).rejects.toThrow("host exited");
  });

  test("at a frame that it does not know", { timeout: LIMIT }, async () => {
    host = await HostProcess.start("agents", GRAPHS);
    const fault = host.frame((header) => header.t === "fault");
    host.send({ t: "run.pause" } as never);
    expect((await fault).header).toMatchObject({ message: expect.stringContaining('unknown frame "run.pause"') });
    expect(await host.exited).toEqual({ code: 70, signal: null });
  });

  test("with user code's exit code", { timeout: LIMIT }, async () => {
    await begin("exit");
    expect(await host.exited).toEqual({ code: 3, signal: null });
  });

  test("with 0 after a drain, when its runs have finished", { timeout: LIMIT }, async () => {
    const run = await begin("wait a little");
    host.send({ t: "drain" });
    await run.end;
    expect(run.outcome.outcome).toBe("success");
    expect(await host.exited).toEqual({ code: 0, signal: null });
  });

  test("when its server closes the stream", { timeout: LIMIT }, async () => {
    await begin("wait, deaf");
    await host.stop();
    expect(await host.exited).toEqual({ code: null, signal: "SIGKILL" });
  });

  test("by its watchdog when the server is gone while user code blocks", { timeout: LIMIT }, async () => {
    // silence alone would take longer than the test's time limit
    await begin("block", { HEDDLE_HOST_SILENCE_MS: "600000" });
    host.dropHeart();
    expect(await host.exited).toEqual({ code: null, signal: "SIGKILL" });
  });

  test("by its watchdog when the server is silent while user code blocks", { timeout: LIMIT }, async () => {
    await begin("block", { HEDDLE_HOST_SILENCE_MS: "3000" });
    host.stopHeart();
    expect(await host.exited).toEqual({ code: null, signal: "SIGKILL" });
  });
});
