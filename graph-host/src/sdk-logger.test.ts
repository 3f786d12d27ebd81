import { expect, test } from "vitest";

import { HostProcess } from "../test/host-process.ts";

test("getLogger() of the SDK logs JSON lines with the id of the run", async () => {
  const host = await HostProcess.start("agents", { logging: "./logging.ts:graph" });
  expect(host.ready.graphs["logging"]).toMatchObject({ ok: true });
  const run = await host.run("logging", { input: { text: "hello" } });
  expect(run.result.values).toEqual({ text: "logged" });
  const lines = () =>
    host.stderr
      .join("")
      .split("\n")
      .filter((line) => line.startsWith('{"level"'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  await expect.poll(() => lines().length).toBe(2);
  expect(lines()).toMatchObject([
    { level: 30, run_id: run.runId, msg: "hello", part: "log" },
    { level: 40, run_id: run.runId, err: { type: "TypeError", message: "careful" } },
  ]);
  await host.stop();
});
