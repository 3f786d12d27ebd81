import type { AddressInfo } from "node:net";

import { serve } from "@hono/node-server";
import { afterAll, expect, test, vi } from "vitest";

import { createTraceApp } from "../../../server/src/trace-app.ts";
import { openGuard } from "../../../server/test/principal.ts";
import { sampleRun, sendRuns } from "../../../server/test/sample-runs.ts";
import { testTracePlatform } from "../../../server/test/trace-platform.ts";
import { COMMANDS } from "../commands.ts";

const { call, platform } = await testTracePlatform();
const server = serve({ fetch: createTraceApp(platform.deps, openGuard).fetch, port: 0, hostname: "127.0.0.1" });
await new Promise((resolve) => server.once("listening", resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
afterAll(() => new Promise((resolve) => server.close(resolve)));

const root = sampleRun("shop", {
  name: "agent",
  tags: ["blue"],
  extra: { metadata: { user: "ann", thread_id: "t-1" } },
});
const tool = sampleRun("shop", { name: "search", run_type: "tool", error: "Timeout" }, { parent: root });
const other = sampleRun("shop", { name: "agent \u001b[31m" }, { seconds: 9 });
await sendRuns(call, [root, tool, other]);

async function heddle(noun: string, ...args: string[]): Promise<{ out: string; err: string }> {
  const printed = { out: "", err: "" };
  const writing = vi
    .spyOn(process.stdout, "write")
    .mockImplementation((chunk) => ((printed.out += String(chunk)), true));
  const errors = vi.spyOn(console, "error").mockImplementation((text) => void (printed.err += String(text)));
  try {
    await COMMANDS[noun]!.run([...args, "--url", url]);
  } finally {
    writing.mockRestore();
    errors.mockRestore();
  }
  return printed;
}
const objects = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test("lists and searches traces and runs as tables and as lines of JSON, page by page", async () => {
  const { out, err } = await heddle("traces", "list", "--project", "shop", "--limit", "1");
  expect(out).toMatch(/^TRACE +NAME +STATUS +STARTED/);
  expect(out).toContain("agent [31m");
  const cursor = /--cursor (\S+)/.exec(err)![1]!;
  const rest = await heddle("traces", "list", "--project", "shop", "--cursor", cursor, "--json");
  expect(objects(rest.out)).toMatchObject([{ id: root.id, inputs: root["inputs"], outputs: { answer: 42 } }]);
  const failed = await heddle("runs", "list", "--project", "shop", "--error", "--json");
  expect(objects(failed.out)).toMatchObject([{ id: tool.id, error: "Timeout" }]);
  const found = await heddle(
    "traces",
    "search",
    "ann",
    "--project",
    "shop",
    "--tag",
    "blue",
    "--metadata",
    "user=ann",
    "--json",
  );
  expect(objects(found.out)).toMatchObject([{ id: root.id }]);
  expect((await heddle("traces", "list", "--project", "shop", "--min-latency", "99")).err).toBe("No traces.");
  const sent = vi.spyOn(globalThis, "fetch");
  const id = "00000000-0000-7000-8000-0000000000aa";
  expect((await heddle("projects", "list", "--workspace", id)).out).toContain("shop");
  expect(sent.mock.calls.map(([, init]) => (init!.headers as Record<string, string>)["X-Tenant-Id"])).toEqual([id]);
  sent.mockRestore();
  await expect(heddle("projects", "list", "--workspace", "other")).rejects.toThrow('enters no workspace "other"');
  await expect(heddle("traces", "list")).rejects.toThrow("--project NAME");
  await expect(heddle("traces", "list", "--project", "none")).rejects.toThrow('no project "none"');
  await expect(heddle("traces", "list", "--project", "shop", "--min-latency", "x")).rejects.toThrow("must be a number");
});

test("shows a trace as a tree, and a run in full", async () => {
  const { out } = await heddle("traces", "show", root.id);
  expect(out).toMatch(new RegExp(`^agent \\(chain, 1.00s\\) ${root.id}\\n`));
  expect(out).toContain(`  search (tool, 1.00s) ${tool.id} error\n    ! Timeout`);
  expect(JSON.parse((await heddle("runs", "show", root.id, "--json")).out)).toMatchObject({ id: root.id });
  expect((await heddle("runs", "show", tool.id)).out).toMatch(/error: +Timeout/);
});

test("reads projects, threads, datasets, feedback and prompts, and writes feedback and examples", async () => {
  expect((await heddle("projects", "list")).out).toMatch(/shop +2 +0.0%/);
  expect((await heddle("projects", "show", "shop")).out).toMatch(/run_count +2/);
  expect((await heddle("threads", "list", "--project", "shop")).out).toMatch(/t-1 +1/);
  expect((await heddle("threads", "show", "t-1", "--project", "shop")).out).toContain(root.id);
  await heddle("feedback", "add", root.id, "--key", "correct", "--score", "0", "--comment", "wrong city");
  expect((await heddle("feedback", "list", "--run", root.id)).out).toMatch(/correct +0 +- +wrong city/);
  await heddle("datasets", "add", "hard", "--run", root.id, "--create");
  expect((await heddle("datasets", "list")).out).toMatch(/hard +1 +0/);
  expect(objects((await heddle("datasets", "show", "hard", "--json")).out)).toMatchObject([{ source_run_id: root.id }]);
  expect((await heddle("datasets", "experiments", "hard")).err).toBe("No experiments.");
  expect((await heddle("prompts", "list")).err).toBe("No prompts.");
});
