/**
 * Tests that code which blocks its event loop costs at most its own run: neighbours in the same process are executed
 * once, unless that process must end. The project has the graphs of `fixtures/unruly-project`, in any language.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, test } from "vitest";

import { logTo } from "../src/base/log.ts";
import { type TestAgentServer, testAgentServer } from "./agent-server.ts";
import { machineFactor } from "../../test/crash/machine.ts";
import { atEnd } from "./at-end.ts";

/** On a busy machine a host takes long to start. */
const WAIT = { timeout: 90_000 };

interface Started {
  path: string;
  file: string;
}

/** @param where the line that blocks, as the error and the log name it */
export function testBlockingGraphs(
  project: string,
  where: RegExp,
  { canInterrupt }: { canInterrupt: boolean },
  env: Record<string, string> = {},
) {
  const dir = mkdtempSync(join(tmpdir(), "heddle-blocking-"));
  atEnd(() => rmSync(dir, { recursive: true, force: true }));
  let files = 0;
  let log = "";

  async function serve(blockMs: number): Promise<TestAgentServer> {
    log = "";
    const server = await testAgentServer(
      { HEDDLE_HOSTS: "1", HEDDLE_HOST_BLOCK_MS: String(blockMs), ...env },
      project,
      {
        log: logTo("warn", { write: (line) => void (log += line) }),
      },
    );
    await server.call("POST", "/runs/wait", { assistant_id: "good", input: {} });
    // the reserve is ready
    await expect.poll(() => server.agent.deps.hosts.all.filter((host) => host.state === "ready").length, WAIT).toBe(2);
    return server;
  }

  async function start({ call }: TestAgentServer, assistantId: string, input: object): Promise<Started> {
    const file = join(dir, String(files++));
    const threadId = (await call("POST", "/threads", {})).json.thread_id as string;
    const { json } = await call("POST", `/threads/${threadId}/runs`, {
      assistant_id: assistantId,
      input: { ...input, file },
    });
    return { path: `/threads/${threadId}/runs/${json.run_id}`, file };
  }

  const lines = ({ file }: Started) => readFileSync(file, "utf8").trim().split("\n");

  /** Starts neighbours of a run that blocks, in the same process. */
  async function neighbours(server: TestAgentServer, ms: number): Promise<Started[]> {
    const started = await Promise.all([1, 2, 3].map(() => start(server, "slow", { ms })));
    await expect.poll(() => started.map(lines)).toEqual([["start"], ["start"], ["start"]]);
    return started;
  }

  test("a run that is merely slow to return succeeds, and its neighbours run once", async () => {
    const server = await serve(60_000);
    const slow = await neighbours(server, 2000);
    const blocking = await start(server, "unruly", { how: "block", ms: 13_000 });
    await expect.poll(() => log).toMatch(where);
    expect(log).toMatch(/blocks the event loop of its graph host at/);
    expect(log).toContain("HEDDLE_HOST_BLOCK_MS");
    expect(log).toMatch(/"stack":"(?:[^"\\]|\\.)*graphs\./);
    // new work goes elsewhere
    expect((await server.call("POST", "/runs/wait", { assistant_id: "good", input: {} })).json.done).toEqual(["only"]);
    expect((await server.call("GET", `${blocking.path}`)).json.status).toBe("running");
    expect((await server.call("GET", `${blocking.path}/join`)).json.done).toEqual(["survived"]);
    for (const run of slow) {
      expect((await server.call("GET", `${run.path}/join`)).json.done).toEqual(["slow"]);
      expect(lines(run)).toEqual(["start", "end"]);
    }
    expect(lines(blocking)).toEqual(["start"]);
    const once = { status: "success", attempt: 1, failures: 0 };
    expect(await server.sql`select status, attempt, failures from runs`).toEqual([once, once, once, once]);
    await server.stop();
  }, 240_000);

  test("a run that blocks for longer than the limit fails once, with the place and the setting", async () => {
    const server = await serve(4000);
    const slow = await neighbours(server, 3000);
    const blocking = await start(server, "unruly", { how: "busy" });
    await expect.poll(async () => (await server.call("GET", blocking.path)).json.status, WAIT).toBe("error");
    const { error } = (await server.call("GET", blocking.path)).json;
    expect(error.error).toBe("BlockedEventLoop");
    expect(error.message).toMatch(where);
    expect(error.message).toContain("HEDDLE_HOST_BLOCK_MS");
    expect(error.message).toContain("did not answer for 4 s");
    expect(lines(blocking)).toEqual(["start"]);
    for (const run of slow) {
      expect((await server.call("GET", `${run.path}/join`)).json.done).toEqual(["slow"]);
      expect(lines(run)).toEqual(canInterrupt ? ["start", "end"] : ["start", "start", "end"]);
    }
    const rows = await server.sql`select status, attempt, failures from runs order by status`;
    const neighbour = { status: "success", attempt: canInterrupt ? 1 : 2, failures: 0 };
    expect(rows).toEqual([{ status: "error", attempt: 1, failures: 0 }, neighbour, neighbour, neighbour]);
    await server.stop();
  }, 240_000);

  test("a cancelled neighbour ends in time, and the run that blocks goes on", async () => {
    const server = await serve(60_000);
    const [slow] = await neighbours(server, 30_000);
    const blocking = await start(server, "unruly", { how: "block", ms: 14_000 });
    await expect.poll(() => log).toMatch(where);
    const before = performance.now();
    expect((await server.call("POST", `${slow!.path}/cancel?wait=1`)).status).toBe(204);
    expect(performance.now() - before).toBeLessThan(9000 * (await machineFactor()));
    expect((await server.call("GET", slow!.path)).json.status).toBe("interrupted");
    expect((await server.call("GET", `${blocking.path}/join`)).json.done).toEqual(["survived"]);
    expect(lines(blocking)).toEqual(["start"]);
    expect(lines(slow!)).toEqual(["start"]);
    await server.stop();
  }, 240_000);

  test("a cancelled run that blocks ends in time", async () => {
    const server = await serve(15_000);
    const [slow] = await neighbours(server, 3000);
    const blocking = await start(server, "unruly", { how: "block", ms: 90_000 });
    await expect.poll(() => log).toMatch(where);
    expect((await server.call("POST", `${blocking.path}/cancel?wait=1`)).status).toBe(204);
    expect((await server.call("GET", blocking.path)).json.status).toBe("interrupted");
    expect((await server.call("GET", `${slow!.path}/join`)).json.done).toEqual(["slow"]);
    expect(lines(slow!).at(-1)).toBe("end");
    expect(lines(slow!).length).toBeLessThanOrEqual(canInterrupt ? 2 : 3);
    await server.stop();
  }, 240_000);
}
