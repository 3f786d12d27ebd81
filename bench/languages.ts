// npm run bench -- languages: a turn in a conversation of 1,000 turns, in JavaScript and in Python by turns, on one server.
// HEDDLE_PYTHON names an interpreter with langgraph. Options: --turns N. Exits with 1 when a target is missed.
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";

import { AgentClient } from "./client.ts";
import { removeDirectory, startHeddle, temporaryDirectory } from "./servers.ts";
import { median } from "./statistics.ts";

const { values: options } = parseArgs({
  args: process.argv.slice(3),
  options: { turns: { type: "string", default: "1000" } },
});
const TURNS = Number(options.turns);
const SAMPLES = 30;
/** Python's turn as a multiple of JavaScript's. */
const TARGET = 1.5;
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

const directory = await temporaryDirectory();
const server = await startHeddle(directory, { project: "bench/project-languages" });
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
  console.log(`turn ${TURNS}: Python takes ${ratio.toFixed(1)} times as long as JavaScript (<= ${TARGET})`);
  await client.close();
} finally {
  await server.stop();
  await removeDirectory(directory);
}
process.exitCode = isMissed ? 1 : 0;
