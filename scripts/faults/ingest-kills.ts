// Kills the trace platform while traces of every kind arrive, and checks that each acknowledged one is stored exactly
// once, with its complete content: --minutes N (default 10), --seed N. Checks after every ten kills. Exits with 1 on a
// violation.
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import { randomFrom } from "../../test/crash/kills.ts";
import { newInstallation } from "../../test/crash/server-process.ts";
import { TraceLoad } from "../../test/crash/trace-load.ts";
import { TraceProcess } from "../../test/crash/trace-process.ts";

const { values: options } = parseArgs({
  options: { minutes: { type: "string", default: "10" }, seed: { type: "string" } },
});
const seed = Number(options.seed ?? Date.now() % 1_000_000);
const random = randomFrom(seed);
const end = Date.now() + Number(options.minutes) * 60_000;
const KILLS_A_ROUND = 10;

const installation = newInstallation();
const server = await TraceProcess.create(installation);
const total = { kills: 0, acknowledged: 0, repeated: 0, breaches: 0 };
console.log(`seed ${seed}, data in ${installation.directory}`);
try {
  await server.start();
  while (Date.now() < end) {
    const load = new TraceLoad(server.url);
    load.start();
    for (let n = 0; n < KILLS_A_ROUND && Date.now() < end; n++) {
      await sleep(300 + random() * 3000);
      await server.kill();
      total.kills++;
      await sleep(random() * 500);
      await server.start();
    }
    await load.stop();
    const breaches = await load.verify();
    for (const breach of breaches.slice(0, 20)) console.log(`BREACH ${breach}`);
    total.acknowledged += load.acknowledged.length;
    total.repeated += load.repeated;
    total.breaches += breaches.length;
    console.log(new Date().toISOString(), JSON.stringify(total));
  }
} finally {
  await server.stop();
}
console.log(`${total.kills} kills, ${total.acknowledged} acknowledged runs and spans, ${total.breaches} breaches`);
if (total.breaches === 0) installation.remove();
else console.log(`kept for a look: ${installation.directory}`);
process.exitCode = total.breaches === 0 ? 0 : 1;
