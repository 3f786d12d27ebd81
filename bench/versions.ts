/**
 * npm run bench -- versions --base REV [--python] [--quick] [--only KIND]: this checkout beside an earlier revision,
 * alternating, with five kinds of runs: waited for, streamed, streamed as resumable (whose frames are kept in the
 * database), turns of a conversation that has had 1,000, and a value of 20 MB. `--python`: the graphs in Python, for
 * which HEDDLE_PYTHON names an interpreter with langgraph.
 *
 * Exits with 1 when the whole interval of a kind is below 0.95 of the base's throughput, or it takes more than 1 / 0.95
 * of its CPU time. The base is checked out into a temporary directory with its own packages.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import type { AgentClient } from "./client.ts";
import { removeDirectory, startHeddle } from "./servers.ts";
import { closedLoop, measureByTurns, reportSide, type Side } from "./turns.ts";

const repository = fileURLToPath(new URL("..", import.meta.url));
const LEAST = 0.95;
const RUNS = 100;

const { values: options } = parseArgs({
  args: process.argv.slice(3),
  options: {
    base: { type: "string" },
    quick: { type: "boolean", default: false },
    python: { type: "boolean", default: false },
    only: { type: "string" },
  },
});
if (options.base === undefined) {
  console.error("Name the revision to compare with: npm run bench -- versions --base REV");
  process.exit(2);
}

const wait = (client: AgentClient, threads: string[], runs: number) =>
  closedLoop(threads, runs, (thread) => client.echo(thread));

const stream = (extra: object) => (client: AgentClient, threads: string[], runs: number) =>
  closedLoop(threads, runs, async (thread) => {
    let values = 0;
    const body = { assistant_id: "echo", input: { text: "hello" }, stream_mode: ["values"], ...extra };
    await client.stream(thread, body, ({ event }) => {
      if (event === "values") values += 1;
    });
    if (values === 0) throw new Error("a stream of the echo graph brought no values");
  });

const message = (type: string) => ({ type, content: type[0]!.repeat(250) });

async function turn(client: AgentClient, thread: string): Promise<void> {
  const body = { assistant_id: "chat", input: { messages: [message("human")] }, stream_mode: ["updates"] };
  let updates = 0;
  await client.stream(thread, body, ({ event }) => {
    if (event === "updates") updates += 1;
  });
  if (updates === 0) throw new Error("a turn brought no update");
}

/** Threads with a conversation of 1,000 turns. */
const seeded = new Set<string>();

async function laterTurn(client: AgentClient, thread: string): Promise<void> {
  if (!seeded.has(thread)) {
    seeded.add(thread);
    await turn(client, thread);
    const messages = Array.from({ length: 999 }, () => [message("human"), message("ai")]).flat();
    await client.post(`/threads/${thread}/state`, { values: { messages }, as_node: "answer" });
  }
  await turn(client, thread);
}

const LARGE = 20e6;

async function makeLarge(client: AgentClient, thread: string): Promise<void> {
  const body = { assistant_id: "large", input: { make: "text", size: LARGE } };
  const received = await client.download(`/threads/${thread}/runs/wait`, body);
  if (received < LARGE) throw new Error("a run did not answer with its value");
}

const each =
  (request: (client: AgentClient, thread: string) => Promise<void>): Side["round"] =>
  (client, threads, runs) =>
    closedLoop(threads, runs, (thread) => request(client, thread));

interface Kind {
  round: Side["round"];
  clients: number;
  runsPerRound: number;
  warmRuns: number;
}

/** The compilers of both sides are done with the hot code after about 4,000 runs; before, they differ by a tenth. */
const USUAL = { clients: 16, runsPerRound: RUNS, warmRuns: 4_000 };
const KINDS: Record<string, Kind> = {
  waited: { ...USUAL, round: wait },
  streamed: { ...USUAL, round: stream({}) },
  resumable: { ...USUAL, round: stream({ stream_resumable: true }) },
  turns: { clients: 4, runsPerRound: 20, warmRuns: 400, round: each(laterTurn) },
  large: { clients: 1, runsPerRound: 1, warmRuns: 2, round: each(makeLarge) },
};

/** Checks out the revision with its own packages, hard-linked where the lock file is the same. */
function checkOut(revision: string): string {
  const directory = join(mkdtempSync(join(tmpdir(), "heddle-base-")), "checkout");
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: repository, stdio: ["ignore", "pipe", "inherit"] });
  git("worktree", "add", "--detach", "--force", directory, revision);
  const lock = (root: string) => readFileSync(join(root, "package-lock.json"), "utf8");
  if (lock(directory) === lock(repository)) {
    for (const folder of ["node_modules", "conformance/node_modules", "console/node_modules"]) {
      cpSync(join(repository, folder), join(directory, folder), { recursive: true, verbatimSymlinks: true });
    }
  } else execFileSync("npm", ["ci"], { cwd: directory, stdio: ["ignore", "ignore", "inherit"] });
  return directory;
}

const base = checkOut(options.base);
try {
  const project = join(repository, "bench", options.python ? "project-python" : "project");
  for (const [kind, { round, ...sizes }] of Object.entries(KINDS)) {
    if (options.only !== undefined && options.only !== kind) continue;
    const sides: [Side, Side] = [
      { name: "base", start: (directory) => startHeddle(directory, { root: base, project }), round },
      { name: "this", start: (directory) => startHeddle(directory, { project }), round },
    ];
    const rounds = options.quick ? 20 : 60;
    const measured = await measureByTurns(sides, { ...sizes, rounds, pairs: 2, limitMs: 120_000 });
    const { runs, seconds, ratio, interval, costRatio } = measured;
    const [low, high] = interval;
    console.log(
      `${kind}: ${runs} runs each in ${seconds.toFixed(0)} s, by turns of ${sizes.runsPerRound}; load ${loadavg()[0]!.toFixed(1)} on ${cpus().length} cores`,
    );
    for (const n of [0, 1] as const) console.log(`  ${reportSide(sides[n].name, measured, n)}`);
    const passed = high >= LEAST && costRatio <= 1 / LEAST;
    console.log(
      `  throughput ${ratio.toFixed(3)} of the base (${low.toFixed(3)} to ${high.toFixed(3)}; >= ${LEAST}), ` +
        `CPU time ${costRatio.toFixed(3)} (<= ${(1 / LEAST).toFixed(3)}): ${passed ? "PASS" : "FAIL"}`,
    );
    if (!passed) process.exitCode = 1;
  }
} finally {
  execFileSync("git", ["worktree", "remove", "--force", base], { cwd: repository, stdio: "inherit" });
  await removeDirectory(join(base, ".."));
}
