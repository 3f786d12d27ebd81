import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, expect, test, vi } from "vitest";

import { TraceProcess } from "./trace-process.ts";

/**
 * Replaces bin/heddle.js: the n-th start executes the n-th line of `starts`, and later ones repeat the last line.
 *
 *     answer          is ready, and lives until it is killed
 *     answer late     the same when there is a file "go"
 *     fail WORDS      says so and ends
 */
const LAUNCHER = `
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
const dir = process.argv[process.argv.indexOf("--data-dir") + 1];
appendFileSync(dir + "/pids", process.pid + "\\n");
writeFileSync(dir + "/flags", process.execArgv.join(" "));
const nth = readFileSync(dir + "/pids", "utf8").trim().split("\\n").length;
const starts = readFileSync(dir + "/starts", "utf8").split("\\n");
const [what, ...words] = (starts[nth - 1] ?? starts.at(-1)).split(" ");
process.on("disconnect", () => process.exit());
process.once("message", () => {
  if (what === "fail") process.send({ type: "failed", message: words.join(" "), code: "" }, () => process.exit(1));
  const answer = () => process.send({ type: "ready", url: "http://127.0.0.1:" + (1000 + nth) });
  if (what === "answer" && words.length === 0) answer();
  const look = () => (existsSync(dir + "/go") ? answer() : setTimeout(look, 20));
  if (words[0] === "late") look();
});
`;

const dirs: string[] = [];
const running: TraceProcess[] = [];
afterEach(async () => {
  for (const child of running.splice(0)) await child.stop();
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

function platform(...starts: string[]) {
  const dataDir = mkdtempSync(join(tmpdir(), "heddle-trace-process-"));
  dirs.push(dataDir);
  const launcher = join(dataDir, "launcher.mjs");
  writeFileSync(launcher, LAUNCHER);
  writeFileSync(join(dataDir, "starts"), starts.join("\n"));
  const printed: string[] = [];
  const trace = new TraceProcess({
    launcher,
    host: "127.0.0.1",
    port: 0,
    dataDir,
    database: { uri: "", socket: null },
    tracingKey: "",
    onUrl: () => {},
    print: (message) => printed.push(message),
  });
  running.push(trace);
  const pids = () => readFileSync(join(dataDir, "pids"), "utf8").trim().split("\n").map(Number);
  const go = () => appendFileSync(join(dataDir, "go"), "");
  const flags = () => readFileSync(join(dataDir, "flags"), "utf8");
  return { trace, printed, pids, flags, go };
}

test("limits the young generation of the process, which Node sizes by the machine's memory", async () => {
  const { trace, flags } = platform("answer");
  await trace.start();
  expect(flags()).toBe("--max-semi-space-size=32");
});

test("reports once why a crashed process does not restart, and once that it answers again", async () => {
  const { trace, printed, pids } = platform("answer", "fail No room.", "fail No room.", "answer", "fail No room.");
  expect(await trace.start()).toEqual({ url: "http://127.0.0.1:1001" });
  process.kill(pids()[0]!, "SIGKILL");
  const first = [
    "The trace platform exited (SIGKILL); restarting it.",
    "The trace platform failed to start: No room.",
    "The trace platform is up again at http://127.0.0.1:1004.",
  ];
  await vi.waitUntil(() => printed.length >= first.length, { timeout: 30_000 });
  expect(printed).toEqual(first);
  // once it has answered, a repeated reason is reported again
  process.kill(pids().at(-1)!, "SIGKILL");
  await vi.waitUntil(() => printed.length >= 5, { timeout: 30_000 });
  expect(printed.slice(3)).toEqual(first.slice(0, 2));
});

test("reports a process that failed at first and answers later", async () => {
  const { trace, printed } = platform("fail No room.", "fail No room.", "answer");
  expect(await trace.start()).toEqual({ problem: "No room." });
  await vi.waitUntil(() => printed.length >= 1, { timeout: 30_000 });
  expect(printed).toEqual(["The trace platform is up at http://127.0.0.1:1003."]);
});

test.each([
  ["answers", "answer late", "The trace platform is up at http://127.0.0.1:1001."],
  ["fails", "fail No room.", "The trace platform failed to start: No room."],
])("reports a process that %s after the start stopped waiting for it", async (_, start, words) => {
  const { trace, printed, go } = platform(start);
  expect(await trace.start(0)).toEqual({ problem: "It is still starting." });
  go();
  await vi.waitUntil(() => printed.length >= 1, { timeout: 30_000 });
  expect(printed).toEqual([words]);
});
