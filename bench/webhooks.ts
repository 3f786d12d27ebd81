/**
 * npm run bench -- webhooks [--quick]: 10,000 runs with a webhook whose receiver is down, beside as many without one.
 * Two servers, measured in alternating rounds of 100 runs, so that other load on the machine affects both alike, and
 * after half of them two new ones: identical processes differ by some hundredths from start to start. Each pair of
 * rounds yields a ratio, and their median has a 95 % confidence interval. Other load hardly affects CPU time, so
 * that is the second measure: over the whole time, including the sender's work between the rounds.
 *
 * Exits with 1 when the whole interval of throughput with webhooks is below 0.95 of that without, or when they take
 * more than 1 / 0.95 of the CPU time. Takes less than four minutes; on a busy machine with fewer runs.
 *
 * Two receivers: a port without a listener, and one that accepts connections and never responds.
 */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { cpus, loadavg } from "node:os";

import type { AgentClient } from "./client.ts";
import { startHeddle } from "./servers.ts";
import { closedLoop, measureByTurns, reportSide, type Side } from "./turns.ts";

const ROUNDS = process.argv.includes("--quick") ? 20 : 100;
const RUNS = 100;
const LEAST = 0.95;

const silent = createServer(() => {}).listen(0, "127.0.0.1");
await once(silent, "listening");
const closed = createServer().listen(0, "127.0.0.1");
await once(closed, "listening");
const hookUrl = (server: typeof silent) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?token=t`;
const receivers = [hookUrl(silent), hookUrl(closed)];
closed.close();

const side = (name: string, webhooks: string[]): Side => ({
  name,
  start: startHeddle,
  round: (client: AgentClient, threads, runs) =>
    closedLoop(threads, runs, async (thread, n) => {
      const webhook = webhooks.length > 0 ? { webhook: webhooks[n % webhooks.length] } : {};
      const body = { assistant_id: "echo", input: { text: "hello" }, ...webhook };
      const values = await client.post<{ echo?: string }>(`/threads/${thread}/runs/wait`, body);
      if (values.echo !== "hello") throw new Error(`the echo graph answered ${JSON.stringify(values)}`);
    }),
});

try {
  const sides: [Side, Side] = [side("without webhooks", []), side("dead receivers", receivers)];
  const measured = await measureByTurns(sides, {
    rounds: ROUNDS,
    runsPerRound: RUNS,
    pairs: 2,
    warmRuns: 500,
    clients: 16,
    limitMs: 200_000,
  });
  const { runs, seconds, ratio, interval, costRatio } = measured;
  const [low, high] = interval;
  const busy = runs < ROUNDS * RUNS ? `; the machine was too busy for ${ROUNDS * RUNS}` : "";
  console.log(
    `${runs} runs each in ${seconds.toFixed(0)} s, by turns of ${RUNS}; load ${loadavg()[0]!.toFixed(1)} on ${cpus().length} cores${busy}`,
  );
  for (const n of [0, 1] as const) console.log(reportSide(sides[n].name, measured, n));
  const verdict = (passed: boolean) => (passed ? "PASS" : "FAIL");
  const fast = high >= LEAST;
  const cheap = costRatio <= 1 / LEAST;
  const decided = ratio >= LEAST || !fast ? "" : ", not decided by so few runs";
  console.log(
    `throughput, ratio ${ratio.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)}; >= ${LEAST}: ${verdict(fast)}${decided})`,
  );
  console.log(`CPU time, ratio ${costRatio.toFixed(3)} (<= ${(1 / LEAST).toFixed(3)}: ${verdict(cheap)})`);
  process.exitCode = fast && cheap ? 0 : 1;
} finally {
  silent.close();
}
