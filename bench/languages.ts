// npm run bench -- languages: a turn in a conversation of 1,000 turns, in JavaScript and in Python by turns, on one server,
// and what a trivial run costs beyond LangGraph itself. Options: --turns N. Exits with 1 when a target is missed.
import { execFile } from "node:child_process";
import { cpus, loadavg } from "node:os";
import { parseArgs, promisify } from "node:util";

import { benchPython } from "./bench-python.ts";
import { AgentClient } from "./client.ts";
import { processorTime } from "./processes.ts";
import { removeDirectory, startHeddle, temporaryDirectory } from "./servers.ts";
import { median } from "./statistics.ts";

const { values: options } = parseArgs({
  args: process.argv.slice(3),
  options: { turns: { type: "string", default: "1000" } },
});
const TURNS = Number(options.turns);
const SAMPLES = 30;
/** Python's turn, and its processor time of a run beyond LangGraph's own, as a multiple of JavaScript's. */
const TARGET = 1.5;
/** Trivial runs of each language by turns, of which the first rounds warm up. */
const RUNS = { rounds: 16, warmUp: 6, each: 300 };
const LANGUAGES = ["javascript", "python"] as const;

const message = (type: string) => ({ type, content: type[0]!.repeat(250) });

async function turn(client: AgentClient, thread: string, assistant_id: string): Promise<number> {
  const started = performance.now();
  const body = { assistant_id, input: { messages: [message("human")] }, stream_mode: ["updates"] };
  await client.stream(thread, body, ({ event }) => {
    if (event === "error") throw new Error("a turn failed");
  });
  return performance.now() - started;
}

const { python } = benchPython();

/** Processor time of a bare invocation in milliseconds, without a server and without checkpoints. */
async function bareTime(language: (typeof LANGUAGES)[number]): Promise<number> {
  const [command, args] =
    language === "python"
      ? [python, ["project-python/bare_loop.py", "2000"]]
      : [process.execPath, ["--import", "tsx", "bare-loop.ts", "2000"]];
  const { stdout } = await promisify(execFile)(command, args, { cwd: import.meta.dirname });
  const measured = JSON.parse(stdout) as { cpu?: number; bare?: { cpu: number } };
  return measured.cpu ?? measured.bare!.cpu;
}

/** Returns whether the target is missed. */
async function compareRuns(client: AgentClient, pid: number): Promise<boolean> {
  const spent = { javascript: [] as number[], python: [] as number[] };
  for (let n = 0; n < RUNS.rounds; n++) {
    for (const language of LANGUAGES) {
      const thread = await client.newThread();
      const before = processorTime([pid]);
      for (let run = 0; run < RUNS.each; run++) await client.echo(thread, `echo-${language}`);
      if (n >= RUNS.warmUp) spent[language].push((processorTime([pid]) - before) / RUNS.each);
    }
  }
  const beyond = { javascript: 0, python: 0 };
  for (const language of LANGUAGES) {
    const own = await bareTime(language);
    beyond[language] = median(spent[language]) - own;
    console.log(
      `a trivial run in ${language}: ${median(spent[language]).toFixed(2)} ms of processor time, of which LangGraph ` +
        `itself takes ${own.toFixed(2)}`,
    );
  }
  const ratio = beyond.python / beyond.javascript;
  const isMissed = ratio > TARGET;
  console.log(
    `beyond LangGraph itself, Python takes ${ratio.toFixed(2)} times as much (<= ${TARGET}) ${isMissed ? "MISSED" : "ok"}`,
  );
  return isMissed;
}

const directory = await temporaryDirectory();
const server = await startHeddle(directory, { project: "bench/project-languages", env: { HEDDLE_PYTHON: python } });
let isMissed = false;
try {
  const client = new AgentClient(server.url);
  console.log(`${TURNS} turns of 250 bytes; load ${loadavg()[0]!.toFixed(1)} on ${cpus().length} cores`);
  const medians = new Map<string, number>();
  for (const turns of [1, TURNS]) {
    const threads = new Map<string, string>();
    for (const language of LANGUAGES) {
      const thread = await client.newThread();
      threads.set(language, thread);
      await turn(client, thread, language);
      const messages = Array.from({ length: turns - 1 }, () => [message("human"), message("ai")]).flat();
      if (turns > 1) await client.post(`/threads/${thread}/state`, { values: { messages }, as_node: "answer" });
    }
    const times = { javascript: [] as number[], python: [] as number[] };
    // the first turns warm up
    for (let n = 0; n < SAMPLES + 10; n++) {
      for (const language of LANGUAGES) {
        const thread = turns > 1 ? threads.get(language)! : await client.newThread();
        const ms = await turn(client, thread, language);
        if (n >= 10) times[language].push(ms);
      }
    }
    for (const language of LANGUAGES) {
      medians.set(`${language} ${turns}`, median(times[language]));
      console.log(`turn ${turns} in ${language}, streamed: median ${median(times[language]).toFixed(1)} ms`);
    }
    if (turns === 1) continue;
    for (const language of LANGUAGES) {
      const { channel_values } = await client.get<{ channel_values: { bytes: number } }>(
        `/threads/${threads.get(language)}/storage`,
      );
      console.log(`stored values in ${language}: ${(channel_values.bytes / 2 ** 20).toFixed(1)} MB`);
    }
  }
  const ratio = medians.get(`python ${TURNS}`)! / medians.get(`javascript ${TURNS}`)!;
  isMissed = ratio > TARGET;
  console.log(`turn ${TURNS}: Python takes ${ratio.toFixed(2)} times as long as JavaScript (<= ${TARGET})`);
  isMissed = (await compareRuns(client, server.pid!)) || isMissed;
  await client.close();
} finally {
  await server.stop();
  await removeDirectory(directory);
}
process.exitCode = isMissed ? 1 : 0;
