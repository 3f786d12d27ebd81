import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { expect, test } from "vitest";

import { startClickHouseServer } from "../../server/test/clickhouse-server.ts";
import { testDatabase } from "../../server/test/db.ts";
import { receiver } from "../../server/test/receiver.ts";
import { microseconds, sampleRun } from "../../server/test/sample-runs.ts";
import { FAKETIME, hasFaketime } from "../chaos/fleet-server.ts";
import { randomFrom } from "./kills.ts";
import { newInstallation } from "./server-process.ts";
import { TraceProcess } from "./trace-process.ts";

const RULES = 5;
const CROSSINGS = 8;
const FAULTS = 6;

const clockOf = (offset: string) => ({
  LD_PRELOAD: FAKETIME,
  FAKETIME: offset,
  FAKETIME_DONT_FAKE_MONOTONIC: "1",
  FAKETIME_DISABLE_SHM: "1",
});

/**
 * Metrics cross their thresholds while two platforms are killed and frozen, some for longer than their leases, and come
 * back with clocks an hour ahead and behind. A
 * crossing is a change of the stored threshold, which lets a tick come at once.
 */
test("each crossing of a threshold is one incident, told once, in order", async () => {
  const db = await testDatabase();
  const { sql } = db;
  const random = randomFrom(39);
  let answers = 0;
  // every third answer is lost or an error
  const hook = await receiver((response) => {
    answers++;
    if (answers % 6 === 0) response.destroy();
    else response.writeHead(answers % 6 === 3 ? 503 : 200).end();
  });
  const installation = newInstallation();
  mkdirSync(installation.dataDir, { recursive: true });
  const clickhouse = await startClickHouseServer(join(installation.directory, "chdb-server"));
  const env = {
    DATABASE_URI: db.uri,
    CLICKHOUSE_URL: clickhouse.url,
    HEDDLE_LOG_LEVEL: "warn",
    HEDDLE_ALERT_LEASE_SECONDS: "2",
    HEDDLE_WEBHOOK_TIMEOUT_MS: "500",
    HEDDLE_WEBHOOK_RETRY_MS: "100",
    HEDDLE_WEBHOOK_MAX_ATTEMPTS: "100",
  };
  const replicas = [await TraceProcess.create(installation), await TraceProcess.create(installation)];
  try {
    for (const replica of replicas) await replica.start(env);
    const post = async (path: string, body: object): Promise<{ id: string; rule: { id: string } }> => {
      const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
      const response = await fetch(replicas[0]!.url + path, init);
      expect([response.status, response.ok]).toEqual([response.status, true]);
      return (await response.json()) as { id: string; rule: { id: string } };
    };
    // in the windows of all ticks of the test
    const start_time = microseconds(Date.now() - 120_000);
    await post("/runs/batch", { post: [1, 2, 3].map(() => sampleRun("watched", { start_time })) });
    const rule = { type: "threshold", attribute: "run_count", aggregation: "sum", operator: "gt", threshold: 100 };
    const actions = [{ target: "webhook", config: { url: hook.url } }];
    const ids: string[] = [];
    for (let n = 0; n < RULES; n++) {
      const body = { rule: { ...rule, name: `Rule ${n}`, description: "", window_minutes: 60 }, actions };
      ids.push((await post("/v1/platform/alerts/all", body)).rule.id);
    }

    const usage_metadata = { input_tokens: 9, output_tokens: 1, total_tokens: 10, total_cost: 5 };
    await post("/runs/batch", {
      post: [sampleRun("spent", { run_type: "llm", outputs: { usage_metadata }, start_time })],
    });
    const budget = await post("/v1/platform/budgets", { name: "Budget", limit_usd: 4, actions });

    let isOver = false;
    const faults = (async () => {
      for (let n = 0; n < FAULTS; n++) {
        await sleep(random() * 800);
        await sql`update alert_rules set available_at = now(), evaluated_at = null where budget is not null`;
        const replica = replicas[n % 2]!;
        if (n % 3 === 0) {
          await replica.kill();
          await sleep(random() * 400);
          // with a clock an hour ahead, then one an hour behind
          await replica.start({ ...env, ...(hasFaketime() && clockOf(n === 0 ? "+3600" : "-3600")) });
        } else {
          replica.signal("SIGSTOP");
          // every other one for longer than the leases
          await sleep(n % 2 === 0 ? 300 + random() * 500 : 3000);
          replica.signal("SIGCONT");
        }
      }
      isOver = true;
    })();
    const firings = new Map<string, number>();
    const cross = async (id: string) => {
      for (let n = 0; n < CROSSINGS || (!isOver && n < 1000); n++) {
        const isFiring = n % 2 === 0;
        if (isFiring) firings.set(id, (firings.get(id) ?? 0) + 1);
        // the generation, so that a tick that was evaluated before is another one
        await sql`
          update alert_rules set generation = generation + 1, evaluated_at = null, available_at = now(),
            definition = definition || ${JSON.stringify({ threshold: isFiring ? 2 : 100 })}::text::jsonb
          where rule_id = ${id}`;
        for (;;) {
          await sleep(50 + random() * 100);
          const [state] = await sql<{ firing: boolean }[]>`
            select exists (select 1 from alert_groups where rule_id = ${id} and status = 'firing') as firing`;
          if (state!.firing === isFiring) break;
        }
        // an evaluation that is repeated changes nothing
        if (random() < 0.5) await sql`update alert_rules set available_at = now() where rule_id = ${id}`;
      }
    };
    await Promise.all([faults, ...ids.map(cross)]);

    const waiting = async () =>
      (await sql<{ n: number }[]>`select count(*)::int as n from alert_deliveries where status = 'pending'`)[0]!.n;
    hook.answer = (response) => response.end();
    for (let left = 120; left > 0 && (await waiting()) > 0; left--) {
      await sleep(500);
      // pauses between attempts, but no attempts
      await sql`
        update alert_deliveries set available_at = now()
        where status = 'pending' and available_at between now() + interval '6 s' and now() + interval '1 day'`;
    }
    expect(await waiting()).toBe(0);
    const incidents = await sql<{ id: string; rule_id: string; status: string }[]>`
      select incident_id as id, rule_id, status from alert_incidents`;
    for (const id of ids) {
      expect(incidents.filter((incident) => incident.rule_id === id)).toHaveLength(firings.get(id)!);
    }
    expect(incidents.filter((incident) => incident.rule_id === budget.id)).toHaveLength(1);
    const first = new Map<string, number>();
    const told = new Map<string, Set<string>>();
    hook.received.forEach(({ headers, json }, index) => {
      const key = `${json.incident_id} ${json.event}`;
      if (!first.has(key)) first.set(key, index);
      told.set(key, (told.get(key) ?? new Set()).add(String(headers["webhook-id"])));
    });
    const expected = incidents.flatMap(({ id, status }) =>
      ["firing", ...(status === "resolved" ? ["resolved"] : [])].map((event) => `${id} alert.${event}`),
    );
    expect([...told.keys()].toSorted()).toEqual(expected.toSorted());
    expect([...told.values()].every((messages) => messages.size === 1)).toBe(true);
    const late = incidents.filter(
      ({ id }) => (first.get(`${id} alert.resolved`) ?? Infinity) < first.get(`${id} alert.firing`)!,
    );
    expect(late).toEqual([]);
    console.log(`${incidents.length} incidents, ${expected.length} events, ${hook.received.length} requests`);
  } finally {
    for (const replica of replicas) replica.signal("SIGCONT");
    await Promise.all(replicas.map((replica) => replica.stop()));
    await clickhouse.stop();
    installation.remove();
  }
}, 300_000);
