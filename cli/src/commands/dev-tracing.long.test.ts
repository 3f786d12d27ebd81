import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { servingCommands, tracePid, TRACES_ANNOUNCED } from "../../test/serve-heddle.ts";

/** Whole servers, on a possibly busy machine. */
const SLOW = { timeout: 240_000 };
const PATIENT = { timeout: 90_000 };
const { serve } = await servingCommands("tracing");
const heddle: typeof serve = (args, ...rest) => serve([...args, "--trace-port", "0"], ...rest);

type Json = Record<string, unknown>;

async function call(url: string, key: string | undefined, body?: unknown): Promise<{ status: number; json: Json }> {
  const response = await fetch(url, {
    method: body === undefined ? "GET" : "POST",
    headers: { "content-type": "application/json", ...(key && { "x-api-key": key }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(20_000),
  });
  return { status: response.status, json: (await response.json()) as Json };
}

/** Runs an agent until it ends. @returns the run's id */
async function run(api: string, key?: string): Promise<string> {
  const { json: thread } = await call(`${api}/threads`, key, {});
  const runs = `${api}/threads/${String(thread["thread_id"])}/runs`;
  const { status, json: values } = await call(`${runs}/wait`, key, { assistant_id: "trail", input: {} });
  expect({ status, values }).toMatchObject({ status: 200, values: { log: expect.any(Array) } });
  const { json } = await call(runs, key);
  return (json as unknown as { run_id: string }[])[0]!.run_id;
}

const traceStatus = (traces: string, key: string | undefined, id: string): Promise<unknown> =>
  call(`${traces}/runs/${id}`, key).then(
    ({ status, json }) => (status === 200 ? json["status"] : status),
    () => "away",
  );

/** Whether the process has loaded chDB, which takes 200 MB. */
const hasEngine = (pid: number): boolean => readFileSync(`/proc/${pid}/maps`, "utf8").includes("libchdb");

let firstKey: string | undefined;

test(
  "traces runs with an undisclosed key where keys are required, and delivers traces of an outage later",
  SLOW,
  async () => {
    const server = await heddle(["dev"], "Stop with Ctrl-C", { HEDDLE_AUTH: "required" });
    const api = server.line("API")!;
    await expect.poll(() => server.output(), PATIENT).toMatch(TRACES_ANNOUNCED);
    const traces = TRACES_ANNOUNCED.exec(server.output())![1]!;
    const key = (firstKey = server.line("Key")!);
    // nothing needs the engine yet: neither health checks nor sweeps
    expect((await call(`${traces}/ready`, undefined)).status).toBe(200);
    expect(hasEngine(tracePid(server.child.pid!)!)).toBe(false);
    const first = await run(api, key);
    await expect.poll(() => traceStatus(traces, key, first), PATIENT).toBe("success");
    expect(hasEngine(tracePid(server.child.pid!)!)).toBe(true);
    expect(await traceStatus(traces, undefined, first)).toBe(401);

    const pid = tracePid(server.child.pid!)!;
    process.kill(pid, "SIGKILL");
    const meanwhile = await run(api, key);
    await expect.poll(() => tracePid(server.child.pid!) ?? pid, PATIENT).not.toBe(pid);
    await expect.poll(() => traceStatus(traces, key, meanwhile), PATIENT).toBe("success");

    // the last run's trace is delivered before the platform is stopped
    const last = await run(api, key);
    server.child.kill("SIGTERM");
    expect(await server.exited).toBe(0);
    const again = await heddle(["serve", "--role", "trace"], "Trace platform", { HEDDLE_AUTH: "required" });
    expect(await traceStatus(/Trace platform (\S+)/.exec(again.output())![1]!, key, last)).toBe("success");
  },
);

test("traces runs when both roles share a process, and stops it cleanly", SLOW, async () => {
  const server = await heddle(["serve", "--role", "agent,trace"], "Agent server", { HEDDLE_AUTH: "required" });
  const api = /Agent server (\S+)/.exec(server.output())![1]!;
  const traces = /Trace platform (\S+)/.exec(server.output())![1]!;
  await expect.poll(() => call(`${api}/ok`, undefined).then(({ status }) => status)).toBe(200);
  const id = await run(api, firstKey);
  await expect.poll(() => traceStatus(traces, firstKey, id), PATIENT).toBe("success");

  const body = { assistant_id: "trail", input: {}, feedback_keys: ["thumbs"] };
  const { json } = await call(`${api}/runs/wait`, firstKey, body);
  const { thumbs } = json["__feedback__"] as { thumbs: string };
  // the link is its own credential
  expect(await call(`${thumbs}?score=1`, undefined)).toMatchObject({ status: 200 });
  expect(thumbs.startsWith(traces)).toBe(true);
  server.child.kill("SIGTERM");
  expect(await server.exited).toBe(0);
});
