import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { serve } from "@hono/node-server";
import { afterAll, expect, test } from "vitest";

import { createTraceApp } from "../../../../server/src/trace-app.ts";
import { openGuard } from "../../../../server/test/principal.ts";
import { testTracePlatform } from "../../../../server/test/trace-platform.ts";
import { until } from "../../../../server/test/until.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect to be there
type Json = any;

let answer: (body: Json, response: ServerResponse) => void = () => {};
const endpoint = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => answer(JSON.parse(Buffer.concat(parts).toString()), response));
});
endpoint.listen(0, "127.0.0.1");
await once(endpoint, "listening");
const target = `http:http://127.0.0.1:${(endpoint.address() as AddressInfo).port}`;
const { call, platform } = await testTracePlatform();
const server = serve({ fetch: createTraceApp(platform.deps, openGuard).fetch, port: 0, hostname: "127.0.0.1" });
await new Promise((resolve) => server.once("listening", resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const root = mkdtempSync(join(tmpdir(), "heddle-experiment-"));
afterAll(async () => {
  rmSync(root, { recursive: true, force: true });
  endpoint.closeAllConnections();
  await new Promise((resolve) => endpoint.close(resolve));
  await new Promise((resolve) => server.close(resolve));
});

const MAIN = fileURLToPath(new URL("../../main.ts", import.meta.url));

function start(...args: string[]) {
  const child = spawn(process.execPath, ["--import", import.meta.resolve("tsx"), MAIN, "experiment", ...args], {
    cwd: root,
    env: {
      ...process.env,
      HEDDLE_TRACE_URL: url,
      HEDDLE_CONSOLE_URL: "https://console.example",
      GITHUB_STEP_SUMMARY: "",
    },
  });
  const output = { out: "", err: "" };
  child.stdout.on("data", (text: Buffer) => (output.out += text.toString()));
  child.stderr.on("data", (text: Buffer) => (output.err += text.toString()));
  const ended = once(child, "exit").then(([code]) => ({ code: code as number, ...output }));
  return { child, output, ended };
}
/** Runs the command as a separate process. */
const experiment = (...args: string[]) => start(...args).ended;

const { json: dataset } = await call("POST", "/datasets", { name: "questions" });
await call(
  "POST",
  "/examples/bulk",
  Array.from({ length: 8 }, (_, i) => ({ dataset_id: dataset.id, inputs: { q: `q${i}` }, outputs: { a: `a${i}` } })),
);
const run = (...args: string[]) => experiment("run", "--dataset", "questions", "--target", target, ...args);

/** Stores a score for each run of an experiment, as an evaluator of the SDK does. */
async function score(name: string, key: string, value: (q: string) => number): Promise<void> {
  const { json: found } = await call("GET", `/sessions?name=${name}`);
  const { json: page } = await call("POST", "/runs/query", { session: [found[0].id], is_root: true });
  for (const { id, inputs } of page.runs) await call("POST", "/feedback", { run_id: id, key, score: value(inputs.q) });
}

test("exit codes of a gate: 0 passed, 1 failed, 2 wrong usage, 3 the target is down", async () => {
  answer = (body, response) => response.end(JSON.stringify({ a: body.q }));
  const passed = await run(
    "--name",
    "first",
    "--gate",
    "error_rate<=1%",
    "--gate",
    "p95_latency<=30s",
    "--summary",
    "first.md",
  );
  expect(passed.err).toMatch(/8\/8 completed/);
  expect([passed.code, passed.out]).toEqual([0, expect.stringContaining("passed   error_rate<=1%: 0")]);
  const summary = readFileSync(join(root, "first.md"), "utf8");
  expect(summary).toMatch(/^## ✅ Gate passed: \[first\]\(https:\/\/console\.example\/datasets\//);
  expect(summary).toContain("| Error rate | 0 |");

  answer = (body, response) => {
    if (body.q === "q3") response.statusCode = 400;
    response.end(JSON.stringify({ a: body.q }));
  };
  const failed = await run("--name", "second", "--gate", "error_rate<=0.01", "--json");
  expect(failed.code).toBe(1);
  expect(JSON.parse(failed.out)).toMatchObject({
    gate: [{ condition: "error_rate<=0.01", outcome: "failed", detail: "0.125" }],
    experiment: { runs: 8, errors: 1 },
  });

  const usage = await Promise.all([
    run("--gate", "nonsense"),
    experiment("run", "--dataset", "unknown", "--target", target),
    experiment("run", "--dataset", "questions", "--target", "what:ever"),
    run("--evaluator", "nobody"),
    run("--gate", "correctness>=baseline"),
    experiment("show", "no-such-experiment"),
  ]);
  expect(usage.map(({ code }) => code)).toEqual([2, 2, 2, 2, 2, 2]);
  expect(usage[4]!.err).toMatch(/needs a baseline: the dataset has none, or it is this experiment/);

  answer = (_, response) => response.writeHead(404).end("{}");
  const down = await run("--name", "third", "--gate", "error_rate<=100%");
  expect([down.code, down.err]).toEqual([3, expect.stringContaining("all runs failed")]);
  const away = await experiment("list", "--url", "http://127.0.0.1:9");
  expect([away.code, away.err]).toEqual([3, expect.stringContaining("There is no trace platform")]);
});

test("compares with the baseline by paired differences, lists regressions, and moves the baseline", async () => {
  answer = (body, response) => response.end(JSON.stringify({ a: body.q }));
  await run("--name", "before");
  await run("--name", "after");
  await score("before", "correctness", () => 1);
  await score("after", "correctness", (q) => (q === "q1" || q === "q2" ? 0 : 1));
  const set = await experiment("baseline", "before");
  expect([set.code, set.out]).toEqual([0, "before is now the baseline of its dataset.\n"]);
  const gate = await experiment(
    ...["gate", "after", "--gate", "correctness>=baseline-0.02", "--gate", "regressions(correctness)<5"],
    ...["--summary", "after.md", "--set-baseline"],
  );
  expect(gate.code).toBe(1);
  expect(gate.out).toContain("failed   correctness>=baseline-0.02: 0.75, limit 0.98 (baseline 1)");
  expect(gate.out).toContain("passed   regressions(correctness)<5: 2 worse than the baseline");
  const summary = readFileSync(join(root, "after.md"), "utf8");
  expect(summary).toContain("### Regressions");
  expect(
    summary.match(/\[new\]\(https:\/\/console\.example\/projects\/[0-9a-f-]{36}\/r\/[0-9a-f-]{36}\)/g),
  ).toHaveLength(2);
  expect((await call("GET", `/datasets/${dataset.id}`)).json.baseline_experiment_id).not.toBeNull();
  const compared = await experiment("compare", "after", "before");
  expect([compared.code, compared.out]).toEqual([0, expect.stringMatching(/correctness +0\.75 +1 +-0\.25 \[/)]);
  const listed = await experiment("list", "--dataset", "questions");
  expect(listed.out).toMatch(/^NAME +DATASET +STATUS[^\n]*\n/);
  expect(listed.out).toMatch(/after +questions +completed +8\/8/);
});

test("Ctrl-C leaves the experiment running and says how to go on; cancel and resume", async () => {
  const open: ServerResponse[] = [];
  answer = (_, response) => void open.push(response);
  const running = start("run", "--dataset", "questions", "--target", target, "--name", "slow", "--concurrency", "2");
  await until(() => open.length === 2);
  await until(() => running.output.err.includes("running"));
  running.child.kill("SIGINT");
  const left = await running.ended;
  expect(left.code).toBe(130);
  expect(left.err).toContain("Cancel it: heddle experiment cancel slow");
  expect((await experiment("gate", "slow", "--gate", "errors<1")).code).toBe(2);
  const cancelled = await experiment("cancel", "slow");
  expect([cancelled.code, cancelled.out]).toEqual([0, "Cancelled slow. To resume it: heddle experiment resume slow\n"]);
  answer = (body, response) => response.end(JSON.stringify({ a: body.q }));
  const resumed = await experiment("resume", "slow", "--gate", "errors<1", "--baseline", "none");
  expect([resumed.code, resumed.out]).toEqual([0, expect.stringContaining("slow: 8 examples, 8 runs, 0 errors")]);
});

test("init writes a workflow once", async () => {
  expect((await experiment("init")).code).toBe(0);
  expect(existsSync(join(root, ".github/workflows/evaluate.yml"))).toBe(true);
  expect((await experiment("init")).code).toBe(2);
  expect((await experiment("init", "--force")).code).toBe(0);
});
