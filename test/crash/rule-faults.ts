/**
 * Two trace platforms on one Postgres and one ClickHouse evaluate rules while they are killed and frozen, and while
 * traces of every order arrive. In the end the matches must be exactly those that the model predicts, and what was done
 * with them too (items of a queue, examples, feedback): none missing, none too many, each once.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import type { Sql } from "../../server/src/base/db/connect.ts";
import { startClickHouseServer } from "../../server/test/clickhouse-server.ts";
import { randomFrom } from "./kills.ts";
import { type Message, MODEL_RULES, RuleLoad } from "./rule-load.ts";
import { newInstallation } from "./server-process.ts";
import { TraceProcess } from "./trace-process.ts";

export interface RuleFaultOptions {
  uri: string;
  sql: Sql;
  runs: number;
  faults: number;
  seed: number;
  log?: (line: string) => void;
}

export interface RuleFaultReport {
  runs: number;
  requests: number;
  repeated: number;
  kills: number;
  freezes: number;
  longFreezes: number;
  /** Runs of which both replicas got a piece at the same time. */
  apart: number;
  matches: number;
  actions: number;
  violations: string[];
}

const REPLICAS = 2;
const CONCURRENCY = 6;
const REQUEST_MS = 5000;
/** Longer than the matcher's transactions may be idle (rules/rule-matcher.ts). */
const LONG_FREEZE_MS = 17_000;
const PROJECT = "rule faults";

export async function runRuleFaults(options: RuleFaultOptions): Promise<RuleFaultReport> {
  const { uri, sql, seed, log = () => {} } = options;
  const random = randomFrom(seed);
  const installation = newInstallation();
  mkdirSync(installation.dataDir, { recursive: true });
  const clickhouse = await startClickHouseServer(join(installation.directory, "chdb-server"));
  const env = { DATABASE_URI: uri, CLICKHOUSE_URL: clickhouse.url, HEDDLE_LOG_LEVEL: "warn" };
  const replicas = await Promise.all(Array.from({ length: REPLICAS }, () => TraceProcess.create(installation)));
  const report = {
    runs: 0,
    requests: 0,
    repeated: 0,
    kills: 0,
    freezes: 0,
    longFreezes: 0,
    matches: 0,
    actions: 0,
    apart: 0,
  };

  /** Sends a request to any replica, or to this one, until it is accepted. */
  async function send(path: string, body: object, to?: TraceProcess): Promise<unknown> {
    for (;;) {
      const replica = to ?? replicas[Math.floor(random() * replicas.length)]!;
      const answer = await fetch(replica.url + path, {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
        signal: AbortSignal.timeout(REQUEST_MS),
      }).then(
        async (response) => ({ status: response.status, text: await response.text() }),
        () => undefined,
      );
      report.requests++;
      if (answer && answer.status < 300) return JSON.parse(answer.text);
      if (answer && answer.status < 500 && answer.status !== 429 && answer.status !== 408) {
        throw new Error(`${path}: ${answer.status} ${answer.text}`);
      }
      report.repeated++;
      await sleep(50 + random() * 100);
    }
  }

  async function sendAll(messages: Message[]): Promise<void> {
    const queue = [...messages];
    const worker = async () => {
      for (let message = queue.shift(); message; message = queue.shift()) {
        const { post, patch, feedback, apart } = message;
        if (feedback) await send("/feedback", feedback);
        else if (apart) {
          report.apart++;
          await Promise.all([
            send("/runs/batch", { post, patch }, replicas[0]),
            send("/runs/batch", apart, replicas[1]),
          ]);
        } else await send("/runs/batch", { post, patch });
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  }

  /** Starts a killed platform; on a busy machine it may take several attempts. */
  async function restart(replica: TraceProcess): Promise<void> {
    for (let left = 4; ; left--) {
      try {
        return await replica.start(env);
      } catch (error) {
        if (left === 0) throw error;
        await replica.kill();
      }
    }
  }

  async function fault(n: number): Promise<void> {
    await sleep(random() * 700);
    const replica = replicas[Math.floor(random() * replicas.length)]!;
    if (n % 10 === 7) {
      report.longFreezes++;
      replica.signal("SIGSTOP");
      await sleep(LONG_FREEZE_MS);
      replica.signal("SIGCONT");
    } else if (random() < 0.4) {
      report.freezes++;
      replica.signal("SIGSTOP");
      await sleep(200 + random() * 2000);
      replica.signal("SIGCONT");
    } else {
      const victims = random() < 0.15 ? replicas : [replica];
      report.kills += victims.length;
      await Promise.all(victims.map((victim) => victim.kill()));
      await sleep(random() * 500);
      await Promise.all(victims.map(restart));
    }
  }

  try {
    // one after the other: the first creates the tables
    for (const replica of replicas) await replica.start(env);
    const load = new RuleLoad(random, PROJECT);
    const rules: { id: string; name: string }[] = [];
    const create = async (path: string, body: object) => ((await send(path, body)) as { id: string }).id;
    const targets = {
      queue: await create("/api/v1/annotation-queues", { name: PROJECT }),
      dataset: await create("/api/v1/datasets", { name: PROJECT }),
      feedback: "by rule",
    };
    const actions = {
      queue: { add_to_annotation_queue_id: targets.queue },
      dataset: { add_to_dataset_id: targets.dataset },
      feedback: { add_feedback: [{ key: targets.feedback, score: 1 }] },
    };
    for (const { name, body, action } of MODEL_RULES) {
      const acted = action && actions[action];
      const made = {
        id: await create("/api/v1/runs/rules", { display_name: name, sampling_rate: 1, ...body, ...acted }),
      };
      rules.push({ id: made.id, name });
    }
    const thread = { display_name: "threads", sampling_rate: 1, filter: "neq(error, null)" };
    const ofThreads = (await send("/api/v1/runs/rules", { ...thread, group_by: "thread_id", idle_seconds: 2 })) as {
      id: string;
    };
    for (let n = 0; n < options.faults; n++) {
      await Promise.all([sendAll(load.make(options.runs / options.faults)), fault(n)]);
      log(`${n + 1} faults, ${load.count} runs, ${report.repeated} of ${report.requests} requests repeated`);
    }
    while (true) {
      const rest = load.rest();
      if (rest.length === 0) break;
      await sendAll(rest);
    }
    report.runs = load.count;
    await settled(sql);
    const violations: string[] = [];
    for (const { id, name } of rules) {
      const rule = MODEL_RULES.find((model) => model.name === name)!;
      const expected = load.expected(rule);
      const found = await sql<{ run_id: string; status: string }[]>`
        select run_id, status from rule_matches where rule_id = ${id}`;
      report.matches += found.length;
      const ids = new Set(found.map((row) => row.run_id));
      for (const run of expected) if (!ids.has(run)) violations.push(`${name}: ${run} is missing`);
      for (const run of ids) if (!expected.has(run)) violations.push(`${name}: ${run} matched and should not`);
      if (ids.size !== found.length) violations.push(`${name}: ${found.length - ids.size} matches are doubled`);
      if (rule.action) {
        const acted = await ACTED[rule.action](sql, targets[rule.action]);
        report.actions += acted.length;
        const once = new Set(acted);
        for (const run of expected) {
          if (once.has(run)) continue;
          const [match] = await sql`select status, reason from rule_matches where rule_id = ${id} and run_id = ${run}`;
          violations.push(`${name}: nothing was done with ${run}: ${JSON.stringify(match)}`);
        }
        for (const run of once) if (!expected.has(run)) violations.push(`${name}: something was done with ${run}`);
        if (once.size !== acted.length) violations.push(`${name}: ${acted.length - once.size} actions are doubled`);
      }
    }
    violations.push(...(await checkThreads(sql, ofThreads.id, load)));
    return { ...report, violations };
  } finally {
    for (const replica of replicas) replica.signal("SIGCONT");
    await Promise.all(replicas.map((replica) => replica.stop()));
    await clickhouse.stop();
    installation.remove();
  }
}

/** Runs with which something was done, by action: items of a queue, examples of a dataset, feedback of a key. */
const ACTED: Record<"queue" | "dataset" | "feedback", (sql: Sql, target: string) => Promise<string[]>> = {
  queue: async (sql, id) => runIds(await sql`select run_id from annotation_queue_runs where queue_id = ${id}`),
  dataset: async (sql, id) =>
    runIds(await sql`select source_run_id as run_id from dataset_examples where dataset_id = ${id}`),
  feedback: async (sql, key) => runIds(await sql`select run_id from feedback where key = ${key}`),
};
const runIds = (rows: readonly Record<string, unknown>[]): string[] => rows.map((row) => String(row["run_id"]));

/** Waits until nothing is left to evaluate and to do: runs, feedback, updates that wait for their runs, idle threads. */
async function settled(sql: Sql): Promise<void> {
  const deadline = Date.now() + 120_000;
  for (let quiet = 0; quiet < 5;) {
    const [left] = await sql<{ n: number }[]>`
      select (select count(*) from rule_candidates)::int + (select count(*) from feedback_changes)::int
        + (select count(*) from waiting_pieces)::int
        + (select count(*) from rule_threads where due_at < 'infinity')::int
        + (select count(*) from rule_matches where status = 'pending')::int as n`;
    quiet = left!.n === 0 ? quiet + 1 : 0;
    if (Date.now() > deadline) throw new Error(`${left!.n} things are still waiting for the rules`);
    await sleep(300);
  }
}

/** Each thread with a failed root has a match as of its last root; other matches are of earlier roots of such threads. */
async function checkThreads(sql: Sql, ruleId: string, load: RuleLoad): Promise<string[]> {
  const violations: string[] = [];
  const expected = load.threads();
  const found = await sql<{ run_id: string; thread_id: string }[]>`
    select run_id, thread_id from rule_matches where rule_id = ${ruleId}`;
  const ids = new Set(found.map((row) => row.run_id));
  for (const [thread, { last }] of expected) {
    if (!ids.has(last)) violations.push(`threads: ${thread} as of ${last} is missing`);
  }
  for (const { run_id, thread_id } of found) {
    if (!expected.get(thread_id)?.roots.has(run_id)) violations.push(`threads: ${thread_id} as of ${run_id} is wrong`);
  }
  return violations;
}
