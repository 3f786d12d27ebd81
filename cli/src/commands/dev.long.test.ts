import { createServer } from "node:net";

import { expect, test } from "vitest";

import { identifyProcess } from "../../../server/src/base/db/process-identity.ts";
import { runHeddle } from "../../test/run-heddle.ts";
import { type ServingCommand, servingCommands, tracePid, TRACES_ANNOUNCED } from "../../test/serve-heddle.ts";

/** Whole servers, on a possibly busy machine. */
const SLOW = { timeout: 240_000 };
const PATIENT = { timeout: 60_000 };
/** Last line of the banner. */
const UP = "Stop with Ctrl-C";
const { serve, db } = await servingCommands("dev");

const dev = (args: string[] = [], env: Record<string, string> = {}): Promise<ServingCommand> =>
  serve(["dev", "--no-reload", ...args], UP, env);

const fetchStatus = (url: string, headers: Record<string, string> = {}): Promise<number> =>
  fetch(url, { headers, signal: AbortSignal.timeout(2000) }).then(
    (response) => response.status,
    () => 0,
  );

test(
  "starts the trace platform with the agent server, restarts it when it dies and stops it with the server",
  SLOW,
  async () => {
    const server = await dev(["--trace-port", "0"]);
    await expect.poll(() => server.output(), PATIENT).toMatch(TRACES_ANNOUNCED);
    const traces = TRACES_ANNOUNCED.exec(server.output())![1]!;
    expect(await fetchStatus(`${traces}/ok`)).toBe(200);
    // keys are not required here, but the first start still shows one
    const key = server.line("Key")!;
    expect(key).toMatch(/^lsv2_sk_/);
    const { tenant_id } = (await (await fetch(`${traces}/auth/public`)).json()) as { tenant_id: string };
    const byKey = await fetch(`${traces}/auth/public`, { headers: { "x-api-key": key } });
    expect(await byKey.json()).toMatchObject({ tenant_id });

    const first = tracePid(server.child.pid!)!;
    process.kill(first, "SIGKILL");
    // on a busy machine a start takes half a minute; on failure the output gives the reason
    await expect.poll(() => server.output(), { timeout: 120_000 }).toContain(`is up again at ${traces}`);
    await expect.poll(() => fetchStatus(`${traces}/ok`), PATIENT).toBe(200);
    const second = tracePid(server.child.pid!)!;
    expect(second).not.toBe(first);

    server.child.kill("SIGKILL");
    await expect.poll(() => identifyProcess(second), PATIENT).toBeNull();
  },
);

test("starts the agent server alone when the trace port is taken, and stops on SIGTERM", SLOW, async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await new Promise((listening) => other.once("listening", listening));
  const { port } = other.address() as { port: number };
  const server = await dev(["--trace-port", String(port)]);
  expect(server.line("Traces")).toBe(
    `off. Port ${port} is in use on 127.0.0.1. Choose another port with --trace-port or HEDDLE_TRACE_PORT.`,
  );
  // the first start created it
  expect(server.line("Key")).toBeUndefined();
  expect(await fetchStatus(`${server.line("API")}/ok`)).toBe(200);
  expect(tracePid(server.child.pid!)).toBeUndefined();
  const info = (await (await fetch(`${server.line("API")}/info`)).json()) as { flags: object };
  expect(info.flags).toMatchObject({ langsmith: false });
  server.child.kill("SIGTERM");
  expect(await server.exited).toBe(0);
  other.close();
});

test("starts no trace process with --no-trace, and rejects requests without a required key", SLOW, async () => {
  const server = await dev(["--no-trace"], { HEDDLE_AUTH: "required" });
  expect(server.line("Traces")).toBeUndefined();
  expect(tracePid(server.child.pid!)).toBeUndefined();
  expect(server.output()).toContain("x-api-key: YOUR KEY");
  const api = server.line("API")!;
  expect(await fetchStatus(`${api}/threads/00000000-0000-0000-0000-000000000001`)).toBe(401);
  const { stdout: output } = await runHeddle(["keys", "create", "--postgres-uri", db.uri]);
  const headers = { "x-api-key": output.toString().trim() };
  expect(await fetchStatus(`${api}/threads/00000000-0000-0000-0000-000000000001`, headers)).toBe(404);
  server.child.kill("SIGTERM");
  expect(await server.exited).toBe(0);
});

test("does not start without authentication on a network address", SLOW, async () => {
  const server = await dev(["--host", "0.0.0.0", "--no-trace"], { HEDDLE_AUTH: "off" });
  expect(await server.exited).toBe(1);
  expect(server.output()).toContain("HEDDLE_AUTH is off and the server listens on 0.0.0.0");
});
