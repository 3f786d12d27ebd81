/**
 * Tests that user code which harms its process costs its own run and affects no other. Real hosts, real harm: the
 * project has the graphs of `fixtures/unruly-project`, in any language.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { beforeAll, describe, expect, test } from "vitest";

import { atEnd } from "./at-end.ts";
import { type TestAgentServer, testAgentServer } from "./agent-server.ts";
import { machineFactor } from "../../test/crash/machine.ts";

interface Harmed {
  run: { status: string; error: { error: string; message: string } | null };
  thread: { status: string };
  /** Milliseconds of each run of the good graph, and of each /ok, during the harm. */
  others: number[];
}

/** `how`, milliseconds of the harm, and the reason with which its run ends. */
export type Harm = [how: string, ms: number, reason: RegExp];

/** Defines the tests, and returns the function that runs harmful code beside good runs. */
export function testUnrulyGraphs(project: string, harms: Harm[], env: Record<string, string> = {}) {
  let server: TestAgentServer;
  const dir = mkdtempSync(join(tmpdir(), "heddle-unruly-"));

  beforeAll(async () => {
    server = await testAgentServer(
      {
        HEDDLE_HOSTS: "2",
        HEDDLE_HOST_MEMORY_MB: "300",
        HEDDLE_HOST_BLOCK_MS: "2000",
        HEDDLE_LOG_LEVEL: "fatal",
        HEDDLE_RUN_MAX_ATTEMPTS: "2",
        ...env,
      },
      project,
    );
    // all hosts are up
    await good();
  });
  atEnd(() => rmSync(dir, { recursive: true, force: true }));

  async function good(ms = 0): Promise<number> {
    const startedAt = performance.now();
    const { status, json } = await server.call("POST", "/runs/wait", { assistant_id: "good", input: { ms } });
    expect({ status, done: json.done }).toEqual({ status: 200, done: ["only"] });
    return performance.now() - startedAt;
  }

  async function newThread(): Promise<string> {
    return (await server.call("POST", "/threads", {})).json.thread_id as string;
  }

  /** Runs harmful code, and good runs beside it until it has ended. */
  async function harm(how: string, ms = 0): Promise<Harmed> {
    const threadId = await newThread();
    const { json: run } = await server.call("POST", `/threads/${threadId}/runs`, {
      assistant_id: "unruly",
      input: { how, ms },
    });
    const others: number[] = [];
    for (;;) {
      const startedAt = performance.now();
      expect((await server.call("GET", "/ok")).status).toBe(200);
      others.push(performance.now() - startedAt, await good());
      const now = (await server.call("GET", `/threads/${threadId}/runs/${run.run_id}`)).json;
      if (now.status !== "pending" && now.status !== "running") {
        return { run: now, thread: (await server.call("GET", `/threads/${threadId}`)).json, others };
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  describe("a run that crashes its process ends as error with the reason", () => {
    test.each(harms)(
      "%s",
      async (how, ms, reason) => {
        const factor = await machineFactor();
        const { run, thread, others } = await harm(how, ms);
        expect(run.status).toBe("error");
        expect(run.error!.message).toMatch(reason);
        expect(thread.status).toBe("error");
        // a good run may have shared the process and been retried, but none waits for the harm to end
        expect(Math.max(...others)).toBeLessThan(how === "block" ? ms / 2 : 30_000 * factor);
      },
      240_000,
    );
  });

  test("a run whose host died continues from its last checkpoint, in the same stream", async () => {
    const file = join(dir, "steps");
    const threadId = await newThread();
    const { text } = await server.call("POST", `/threads/${threadId}/runs/stream`, {
      assistant_id: "steps",
      input: { file },
      stream_mode: ["updates"],
    });
    expect(readFileSync(file, "utf8")).toBe("a\nb\nb\nc\n");
    const events = text
      .split("\n\n")
      .filter((frame) => frame.startsWith("event:"))
      .map((frame) => `${/event: (.*)/.exec(frame)![1]} ${/data: (.*)/.exec(frame)![1]}`);
    expect(
      events.filter((event) => event.startsWith("metadata")).map((event) => JSON.parse(event.slice(9)).attempt),
    ).toEqual([1, 2]);
    expect(events.filter((event) => event.startsWith("updates"))).toEqual([
      'updates {"a":{"done":["a"]}}',
      'updates {"b":{"done":["b"]}}',
      'updates {"c":{"done":["c"]}}',
    ]);
    expect(text).not.toContain("event: error");
    expect((await server.call("GET", `/threads/${threadId}`)).json).toMatchObject({
      status: "idle",
      values: { done: ["a", "b", "c"] },
    });
  });

  test("a run whose host is killed by SIGKILL continues in another host within 2 s", async () => {
    const { hosts } = server.agent.deps;
    const factor = await machineFactor();
    const threadId = await newThread();
    const { json: run } = await server.call("POST", `/threads/${threadId}/runs`, {
      assistant_id: "good",
      input: { ms: 3000 * factor },
    });
    const hostOf = (attempt: number) => hosts.all.find((host) => host.runs.get(run.run_id)?.attempt === attempt);
    await expect.poll(() => hostOf(1)?.pid, { timeout: 30_000, interval: 5 }).toBeDefined();
    const { pid } = hostOf(1)!;
    const killedAt = performance.now();
    process.kill(pid!, "SIGKILL");
    await expect.poll(() => hostOf(2)?.pid, { timeout: 30_000, interval: 5 }).toBeDefined();
    expect(hostOf(2)!.pid).not.toBe(pid);
    expect(performance.now() - killedAt).toBeLessThan(2000 * factor);
    const { json: values } = await server.call("GET", `/threads/${threadId}/runs/${run.run_id}/join`);
    expect(values.done).toEqual(["only"]);
  }, 90_000);

  test("a cancelled run that blocks its process still ends as interrupted", async () => {
    const threadId = await newThread();
    const { json: run } = await server.call("POST", `/threads/${threadId}/runs`, {
      assistant_id: "unruly",
      input: { how: "block", ms: 60_000 },
    });
    await new Promise((resolve) => setTimeout(resolve, 300));
    const path = `/threads/${threadId}/runs/${run.run_id}`;
    expect((await server.call("POST", `${path}/cancel?wait=1`)).status).toBe(204);
    expect((await server.call("GET", path)).json.status).toBe("interrupted");
  });

  return harm;
}
