/**
 * Two replicas of a release are replaced by this version's under load, one after the other, and then again by this
 * version's. Nothing may be lost.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { EmbeddedPostgres } from "../../../server/src/base/db/embedded-postgres.ts";
import { freePort } from "../../../server/src/base/free-port.ts";
import { Ledger } from "../../../test/crash/ledger.ts";
import { Load } from "../../../test/crash/load.ts";
import { verify } from "../../../test/crash/verify.ts";
import { type Place, VersionProcess } from "./version-process.ts";

/** A server of 0.6.0 that stops ends some streams as if they were complete. Their runs continue. */
const RELEASES_CUT = /^the stream of \S+ brought \d+ of 20 frames$/;
/** Time under load before, between and after the replacements. */
const PHASE_MS = 10_000;

export async function rollOver({ earlier, current, directory }: Place): Promise<string[]> {
  const postgres = new EmbeddedPostgres({ dataDir: join(directory, "postgres") });
  const { uri } = await postgres.start();
  const stepLog = join(directory, "steps.jsonl");
  const ports = [await freePort(), await freePort()];
  const url = (n: number) => `http://127.0.0.1:${ports[n]}`;
  const start = async (root: string, n: number) => {
    const args = ["serve", "--role", "agent", "--config", join(current, "test/crash/project/langgraph.json")];
    args.push("--port", `${ports[n]}`, "--data-dir", join(directory, `data-${n}`), "--postgres-uri", uri);
    const server = new VersionProcess(root, args, directory, { STEP_LOG: stepLog, HEDDLE_DRAIN_SECONDS: "5" });
    await server.until(`${url(n)}/ok`);
    return server;
  };
  const replicas = [await start(earlier, 0), await start(earlier, 1)];
  try {
    const ledger = new Ledger();
    const loads = [0, 1].map((n) => new Load(url(n), ledger));
    for (const load of loads) load.start();
    const replace = async (n: number) => {
      await sleep(PHASE_MS);
      await replicas[n]!.stop();
      replicas[n] = await start(current, n);
    };
    await replace(0);
    await replace(1);
    // of requests to the release while it stopped
    const cut = ledger.wrong.filter((problem) => RELEASES_CUT.test(problem));
    ledger.wrong.splice(0, Infinity, ...ledger.wrong.filter((problem) => !cut.includes(problem)));
    await replace(0);
    await replace(1);
    await sleep(PHASE_MS);
    await Promise.all(loads.map((load) => load.stop()));
    const wrong = await verify(url(0), uri, stepLog, ledger);
    if (cut.length > 0) console.log(`  ${cut.length} streams ended without their frames while the release stopped`);
    const failed = [...ledger.failedRequests.values()].reduce((sum, count) => sum + count, 0);
    console.log(`  ${ledger.threads.size} threads, ${ledger.runs.size} runs, ${failed} requests to a stopped replica`);
    return wrong;
  } finally {
    for (const replica of replicas) await replica.kill();
    await postgres.stop();
  }
}
