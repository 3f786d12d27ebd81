// Kills processes of a server under load for a given time: --minutes N (default 10), --seed N. Every fifty kills it
// stops the load, checks everything, and continues. Prints counts; exits with 1 on a violation.
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import { kill, randomFrom, VICTIMS } from "../../test/crash/kills.ts";
import { Ledger } from "../../test/crash/ledger.ts";
import { Load } from "../../test/crash/load.ts";
import { newInstallation, ServerProcess } from "../../test/crash/server-process.ts";
import { verify } from "../../test/crash/verify.ts";

const { values: options } = parseArgs({
  options: { minutes: { type: "string", default: "10" }, seed: { type: "string" } },
});
const seed = Number(options.seed ?? Date.now() % 1_000_000);
const random = randomFrom(seed);
const end = Date.now() + Number(options.minutes) * 60_000;
const KILLS_A_ROUND = 50;
// hosts die most often in practice, too
const WEIGHTED = ["host", "host", ...VICTIMS] as const;

const installation = newInstallation();
const server = await ServerProcess.create(installation, { HEDDLE_RUN_MAX_ATTEMPTS: "1000" });
const total = { rounds: 0, threads: 0, runs: 0, failedRequests: 0, breaches: 0 };
const kills = { host: 0, server: 0, postmaster: 0, backend: 0 };
let interrupted = false;
process.once("SIGINT", () => (interrupted = true));

console.log(`seed ${seed}, data in ${installation.directory}`);
try {
  await server.start();
  while (Date.now() < end && !interrupted) {
    const load = new Load(server.url, new Ledger());
    load.start();
    for (let n = 0; n < KILLS_A_ROUND && Date.now() < end && !interrupted;) {
      await sleep(200 + random() * 1500);
      const victim = WEIGHTED[Math.floor(random() * WEIGHTED.length)]!;
      if (!(await kill(victim, server, random))) continue;
      kills[victim]++;
      n++;
    }
    await load.stop();
    await load.client.close();
    const breaches = await verify(server.url, server.databaseUri(), installation.stepLog, load.ledger);
    for (const breach of breaches) console.log(`BREACH ${breach}`);
    total.rounds++;
    total.threads += load.ledger.threads.size;
    total.runs += load.ledger.runs.size;
    total.breaches += breaches.length;
    for (const count of load.ledger.failedRequests.values()) total.failedRequests += count;
    console.log(new Date().toISOString(), JSON.stringify({ kills, ...total }));
  }
} finally {
  await server.stop();
}
const sum = Object.values(kills).reduce((all, count) => all + count);
console.log(`${sum} kills, ${total.runs} acknowledged runs on ${total.threads} threads, ${total.breaches} breaches`);
if (total.breaches === 0) installation.remove();
else console.log(`kept for a look: ${installation.directory}`);
process.exitCode = total.breaches === 0 ? 0 : 1;
