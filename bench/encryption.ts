/**
 * npm run bench -- encryption [--quick]: runs of a server that encrypts stored state beside those of one that does not, in
 * alternating rounds, as for webhooks. Each run has an input and a state of 2 KB. Prints the ratios of throughput and
 * of CPU time; there is no target, because encryption is a choice.
 */
import { cpus, loadavg } from "node:os";

import type { AgentClient } from "./client.ts";
import { startHeddle } from "./servers.ts";
import { closedLoop, measureByTurns, reportSide, type Side } from "./turns.ts";

const ROUNDS = process.argv.includes("--quick") ? 20 : 60;
const RUNS = 100;
const TEXT = "all work and no play ".repeat(100);

const side = (name: string, env: Record<string, string>): Side => ({
  name,
  start: (directory) => startHeddle(directory, { env }),
  round: (client: AgentClient, threads, runs) =>
    closedLoop(threads, runs, async (thread) => {
      const body = { assistant_id: "echo", input: { text: TEXT } };
      const values = await client.post<{ echo?: string }>(`/threads/${thread}/runs/wait`, body);
      if (values.echo !== TEXT) throw new Error("the echo graph answered something else");
    }),
});

const sides: [Side, Side] = [side("plain", {}), side("encrypted", { LANGGRAPH_AES_KEY: "0123456789abcdef" })];
const measured = await measureByTurns(sides, {
  rounds: ROUNDS,
  runsPerRound: RUNS,
  pairs: 2,
  warmRuns: 300,
  clients: 16,
  limitMs: 200_000,
});
const { runs, seconds, ratio, interval, costRatio } = measured;
const [low, high] = interval;
console.log(
  `${runs} runs each in ${seconds.toFixed(0)} s, by turns of ${RUNS}; load ${loadavg()[0]!.toFixed(1)} on ${cpus().length} cores`,
);
for (const n of [0, 1] as const) console.log(reportSide(sides[n].name, measured, n));
console.log(`throughput, ratio ${ratio.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`);
console.log(`CPU time, ratio ${costRatio.toFixed(3)}`);
