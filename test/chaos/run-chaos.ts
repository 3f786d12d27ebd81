import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { randomFrom } from "../crash/kills.ts";
import type { Arguments } from "./arguments.ts";
import { checkAll } from "./check/all-laws.ts";
import type { HealthSample, World } from "./check/world.ts";
import { Fleet } from "./fleet.ts";
import { Generator } from "./generator/generator.ts";
import { Session } from "./generator/session.ts";
import { startWebhookReceiver } from "./generator/webhook-receiver.ts";
import { History } from "./history.ts";
import { Nemesis } from "./nemesis.ts";
import { now } from "./now.ts";
import { openTables, untilDelivered, untilSettled } from "./read-tables.ts";
import { readWorld } from "./read-world.ts";
import { report, reportViolations } from "./report.ts";

/** Time after the last fault within which every accepted run must end. */
const SETTLE_MS = 30_000;
const DELIVER_MS = 60_000;
/** Time for the scenarios to end after the last fault; longer than any request that is repeated until it is answered. */
const STOP_MS = 400_000;
const SAMPLE_MS = 500;
/** Runs of a graph that langgraph.flow.json permits at a time. */
const GRAPH_LIMIT = 6;

export interface ChaosResult {
  world: World;
  text: string;
  violations: number;
}

/**
 * Plays `minutes` of faults and load in `directory`, then lets everything settle and checks every law. `signal` ends it
 * early; all started processes are stopped in any case.
 */
export async function runChaos(
  { minutes, seed, kinds, language, flow }: Arguments,
  directory: string,
  signal: AbortSignal,
  say: (text: string) => void,
): Promise<ChaosResult> {
  const history = new History(join(directory, "history.jsonl"));
  const hooks = await startWebhookReceiver(history, randomFrom(seed + 1));
  const fleet = await Fleet.start(directory, history, language, flow);
  let sampling = true;
  let sampler: Promise<void> | undefined;
  try {
    const session = new Session({
      history,
      url: (server) => fleet.url(server),
      seed: seed + 2,
      webhookUrl: hooks.url,
    });
    const generator = new Generator(session);
    await generator.start();
    sampler = sampleHealth(fleet, history, () => sampling);
    const limits = flow ? watchLimits(fleet.postgres.uri(), () => sampling) : undefined;
    const nemesis = new Nemesis(fleet, history);
    const interrupted = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => {
        nemesis.stop();
        fleet.expectEnd();
        reject(new Error("Interrupted; nothing was checked."));
      });
    });
    interrupted.catch(() => {});
    signal.throwIfAborted();
    say(`seed ${seed}, ${minutes} minutes, ${kinds.length} kinds of faults, graphs in ${language}, in ${directory}`);
    await Promise.race([interrupted, nemesis.run(seed, kinds, now() + minutes * 60_000)]);
    const calmFrom = now();
    const unfinished = await Promise.race([interrupted, generator.stop(STOP_MS)]);
    const sql = openTables(fleet.postgres.uri());
    const settledAt = await untilSettled(sql, SETTLE_MS);
    await untilDelivered(sql, DELIVER_MS);
    history.calm({ from: calmFrom, to: now() });
    sampling = false;
    await sampler;
    const world = await Promise.race([interrupted, readWorld(fleet, history, sql, settledAt)]);
    await sql.end();
    for (const error of generator.errors.slice(0, 5)) say(`generator: ${(error as Error).stack}`);
    const verdicts = checkAll(world);
    const exceeded = await limits;
    if (exceeded)
      say(`flow control: ${exceeded.samples} samples, at most ${exceeded.most} runs of a graph, limit ${GRAPH_LIMIT}`);
    if (unfinished > 0) say(`${unfinished} scenarios did not end within ${STOP_MS / 1000} s of the last fault.`);
    const violations =
      Object.values(verdicts).reduce((sum, verdict) => sum + verdict.violations.length, unfinished) +
      (exceeded && exceeded.most > GRAPH_LIMIT ? 1 : 0);
    const text = `${report(world, verdicts, nemesis.skipped)}\n${reportViolations(world, verdicts)}`;
    writeFileSync(join(directory, "world.json"), JSON.stringify(world));
    writeFileSync(join(directory, "report.txt"), text);
    return { world, text, violations };
  } finally {
    sampling = false;
    await sampler;
    await hooks.close();
    await fleet.stop();
    await history.close();
  }
}

/** Probes each server's health twice a second, not through the proxies. */
async function sampleHealth(fleet: Fleet, history: History, isOn: () => boolean): Promise<void> {
  const endpoints: HealthSample["endpoint"][] = ["/ok", "/ready"];
  const sample = async (server: (typeof fleet.servers)["api"], endpoint: HealthSample["endpoint"]) => {
    while (isOn()) {
      const sent = now();
      const answer = await server.probe(endpoint);
      history.sample({ sent, t: now(), server: server.name, endpoint, ...answer });
      await sleep(SAMPLE_MS);
    }
  };
  await Promise.all(
    Object.values(fleet.servers).flatMap((server) => endpoints.map((endpoint) => sample(server, endpoint))),
  );
}

/** Counts the running runs of each graph in snapshots of the database. */
async function watchLimits(uri: string, isOn: () => boolean): Promise<{ samples: number; most: number }> {
  const sql = openTables(uri);
  const found = { samples: 0, most: 0 };
  while (isOn()) {
    const rows = await sql<{ n: number }[]>`
      select count(*)::int as n from runs r join assistants a using (assistant_id)
      where r.status = 'running' and r.flow is not null group by a.graph_id`.catch(() => undefined);
    if (rows) found.samples += 1;
    found.most = Math.max(found.most, ...(rows ?? []).map(({ n }) => n));
    await sleep(50);
  }
  await sql.end({ timeout: 1 });
  return found;
}
