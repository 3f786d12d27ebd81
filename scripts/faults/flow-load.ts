// Flow control of runs under load, on a separate Postgres (docs/flow-control.md):
//
//   --cost       a claim of 10 runs with an empty queue and with 100,000 waiting runs of 10,000 keys, by turns, free and
//                under a limit that all keys share. Prints the ratios (target: at most 1.5) and exits with 1 above it
//   --simulate   10,000 users with a heavy tail, in simulated time on the real queue: waits with and without flow control,
//                and the laws: no limit exceeded, and no wait beyond the bound
//   --admission  a creation with and without a limit of waiting runs, by turns, alone and by 8 servers at once with one key
//   --throttle   a minute of claims by 3 servers: starts are exact to one, in every period
//   --fair       random runs of many users in three classes that age: in the highest class, no user gets more than one
//                start ahead of another
//
// Options: --quick (a twentieth of the waiting runs, keys and users, a fifth of the rounds); --waiting N, --keys N,
// --rounds N; --users N, --slots N; --seconds N; --seed N.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { parseArgs } from "node:util";

import { queueSection } from "../../server/src/agent/project/queue-config.ts";
import { claimRuns, createRuns, finishRuns, type NewRun, putQueueRules } from "../../server/src/agent/runs/sql.ts";
import { connect, type Sql } from "../../server/src/base/db/connect.ts";
import { migrate } from "../../server/src/base/db/migrate.ts";
import { startOwnPostgres } from "./own-postgres.ts";

const QUICK = process.argv.includes("--quick");

const { values: options } = parseArgs({
  options: {
    cost: { type: "boolean", default: false },
    simulate: { type: "boolean", default: false },
    admission: { type: "boolean", default: false },
    throttle: { type: "boolean", default: false },
    fair: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
    seconds: { type: "string", default: "65" },
    waiting: { type: "string", default: QUICK ? "5000" : "100000" },
    keys: { type: "string", default: QUICK ? "500" : "10000" },
    rounds: { type: "string", default: QUICK ? "60" : "300" },
    users: { type: "string", default: QUICK ? "500" : "10000" },
    slots: { type: "string", default: "32" },
    seed: { type: "string", default: "1" },
  },
});
if (options.help || !(options.cost || options.simulate || options.admission || options.throttle || options.fair)) {
  const lines = readFileSync(new URL(import.meta.url), "utf8").split("\n");
  const head = lines.slice(
    0,
    lines.findIndex((line) => !line.startsWith("//")),
  );
  console.log(head.map((line) => line.slice(3)).join("\n"));
  process.exit(options.help ? 0 : 2);
}
const [waiting, keys, rounds] = [Number(options.waiting), Number(options.keys), Number(options.rounds)];
const CLAIMED = 10;
const TARGET = 1.5;
/** Rounds before the measurement, which warm plans and caches. */
const WARM_UP = Math.min(20, Math.floor(rounds / 4));

const server = randomUUID();
const assistantId = randomUUID();

const newRun = (key: string, metadata: object = {}): NewRun => ({
  runId: randomUUID(),
  threadId: randomUUID(),
  assistantId,
  kwargs: "{}",
  metadata: JSON.stringify({ customer: key, ...metadata }),
  strategy: "enqueue",
  createThread: true,
  afterSeconds: 0,
  temporary: false,
  describe: false,
  serverId: server,
  claim: false,
});

async function prepare(sql: Sql, rules: object | null): Promise<void> {
  await migrate(sql);
  await sql`insert into assistants (assistant_id, graph_id, name) values (${assistantId}, 'g', 'g')`;
  await sql`insert into servers (server_id, host_name, process) values (${server}, 'here', 'null')`;
  await putQueueRules(sql, { g: rules && queueSection.parse(rules) });
}

async function finish(sql: Sql, runs: readonly { run_id: string; thread_id: string }[]): Promise<void> {
  await finishRuns(
    sql,
    runs.map((run) => ({
      ...{ runId: run.run_id, threadId: run.thread_id, attempt: 1, outcome: "success" },
      ...{ error: null, state: '{"values":{},"next":[],"interrupts":{}}' },
    })),
    false,
  );
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
const percentile = (values: number[], p: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * p))]!;

/** Times a claim; then ends its runs and creates as many. */
async function claimOnce(sql: Sql, round: number): Promise<number> {
  await createRuns(
    sql,
    Array.from({ length: CLAIMED }, (_, n) => newRun(`k${(round * CLAIMED + n) % keys}`)),
  );
  const startedAt = performance.now();
  const claimed = await claimRuns(sql, server, CLAIMED);
  const took = performance.now() - startedAt;
  if (claimed.length !== CLAIMED) throw new Error(`claimed ${claimed.length} runs, expected ${CLAIMED}`);
  await finish(sql, claimed);
  return took;
}

async function cost(open: (name: string) => Promise<Sql>): Promise<boolean> {
  const perKey = [{ key: "metadata.customer", limit: 2 }];
  const fair = "metadata.customer";
  const scenes = {
    "limit per key": { rules: { concurrency: perKey, fair }, backlog: waiting },
    "limit per key, and 10 over all keys": {
      rules: { concurrency: [...perKey, { key: "all", limit: CLAIMED }], fair },
      backlog: waiting,
    },
  };
  let holds = true;
  for (const [name, { rules, backlog }] of Object.entries(scenes)) {
    const [empty, full] = [
      await open(`empty_${randomUUID().slice(0, 8)}`),
      await open(`full_${randomUUID().slice(0, 8)}`),
    ];
    for (const sql of [empty, full]) await prepare(sql, rules);
    for (let n = 0; n < backlog; n += 500) {
      await createRuns(
        full,
        Array.from({ length: Math.min(500, backlog - n) }, (_, m) => newRun(`k${(n + m) % keys}`)),
      );
      await full`select choose_from_lanes(${randomUUID()}, 0)`;
    }
    await full`analyze`;
    const times = { empty: [] as number[], full: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      for (const [side, sql] of [
        ["empty", empty],
        ["full", full],
      ] as const) {
        const took = await claimOnce(sql, round);
        if (round >= WARM_UP) times[side].push(took);
      }
    }
    const ratio = median(times.full) / median(times.empty);
    holds &&= ratio <= TARGET;
    console.log(
      `${name}: a claim of ${CLAIMED} takes ${median(times.empty).toFixed(2)} ms with an empty queue, ` +
        `${median(times.full).toFixed(2)} ms with ${backlog} waiting runs of ${keys} keys (p95 ` +
        `${percentile(times.empty, 0.95).toFixed(2)}, ${percentile(times.full, 0.95).toFixed(2)}): ratio ${ratio.toFixed(2)}`,
    );
    await Promise.all([empty.end(), full.end()]);
  }
  return holds;
}

/** Deterministic numbers in [0, 1). */
function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Arrival {
  at: number;
  user: number;
  takes: number;
}

/** An hour of runs: most users start a few, one by one; a few start hundreds at once. */
function arrivals(): Arrival[] {
  const random = numbers(Number(options.seed));
  const all: Arrival[] = [];
  for (let user = 0; user < Number(options.users); user++) {
    const count = Math.min(1000, Math.floor((1 - random()) ** (-1 / 1.1)));
    const begins = random() * 3600;
    const apart = count > 20 ? 0 : 60;
    for (let n = 0; n < count; n++)
      all.push({ at: begins + n * apart * random(), user, takes: 1 - Math.log(1 - random()) * 2 });
  }
  return all.sort((a, b) => a.at - b.at);
}

/** Plays the arrivals on the queue: time passes only here. Returns the waits of each class of users. */
async function simulate(sql: Sql, rules: object | null, limit: number | undefined) {
  await prepare(sql, rules);
  const load = arrivals();
  const perUser = new Map<number, number>();
  for (const { user } of load) perUser.set(user, (perUser.get(user) ?? 0) + 1);
  const slots = Number(options.slots);
  const known = new Map<string, Arrival>();
  const running: { until: number; run_id: string; thread_id: string; user: number }[] = [];
  const light: number[] = [];
  const heavy: number[] = [];
  let now = 0;
  let next = 0;
  let broken = 0;
  while (next < load.length || running.length > 0 || known.size > 0) {
    const arriving = load[next]?.at ?? Infinity;
    const ending = running.length === 0 ? Infinity : Math.min(...running.map(({ until }) => until));
    now = Math.min(arriving, ending);
    // a tenth of a second at a time, as servers claim in groups
    const edge = now + 0.1;
    const group: NewRun[] = [];
    for (; next < load.length && load[next]!.at <= edge; next++) {
      const run = newRun(`u${load[next]!.user}`);
      known.set(run.runId, load[next]!);
      group.push(run);
    }
    for (let n = 0; n < group.length; n += 500) {
      await createRuns(sql, group.slice(n, n + 500));
    }
    const ended = running.filter(({ until }) => until <= edge);
    if (ended.length > 0) {
      await finish(
        sql,
        ended.toSorted((a, b) => (a.thread_id < b.thread_id ? -1 : 1)),
      );
      for (const run of ended) running.splice(running.indexOf(run), 1);
    }
    while (running.length < slots && known.size > 0) {
      const [events] = await sql<[{ n: number }]>`select count(*)::int as n from run_queue_events`;
      const claimed = await claimRuns(sql, server, slots - running.length);
      for (const { run_id, thread_id } of claimed) {
        const { at, user, takes } = known.get(run_id)!;
        known.delete(run_id);
        running.push({ run_id, thread_id, user, until: edge + takes });
        (perUser.get(user)! > 20 ? heavy : light).push(Math.max(0, now - at));
      }
      if (claimed.length === 0 && events.n <= 500) break;
    }
    if (limit !== undefined) {
      const counts = new Map<number, number>();
      for (const { user } of running) counts.set(user, (counts.get(user) ?? 0) + 1);
      broken += [...counts.values()].filter((count) => count > limit).length;
    }
  }
  return { light, heavy, broken, total: load.length, users: perUser.size };
}

/** Times creations with the rules of each side, by turns: one caller, then 8 connections that send groups with one key. */
async function admission(open: (name: string, max?: number) => Promise<Sql>): Promise<boolean> {
  const concurrency = [{ key: "metadata.customer", limit: 2 }];
  const bound = [{ key: "metadata.customer", limit: 100_000 }];
  const sides = [
    { sql: await open("unbounded", 8), rules: { concurrency }, alone: [] as number[], groups: [] as number[] },
    {
      sql: await open("bounded", 8),
      rules: { concurrency, waiting: bound },
      alone: [] as number[],
      groups: [] as number[],
    },
  ];
  for (const { sql, rules } of sides) await prepare(sql, rules);
  const run = (key: string): NewRun => ({ ...newRun(key), kwargs: '{"refusable": true}' });
  for (let round = 0; round < rounds; round++) {
    for (const { sql, alone, groups } of sides) {
      const begunAt = performance.now();
      await createRuns(sql, [run(`k${round % 50}`)]);
      const tookAlone = performance.now() - begunAt;
      const groupsAt = performance.now();
      await Promise.all(Array.from({ length: 8 }, () => createRuns(sql, [run("hot"), run("hot"), run("hot")], false)));
      if (round < WARM_UP) continue;
      alone.push(tookAlone);
      groups.push(performance.now() - groupsAt);
    }
  }
  const [without, with_] = [sides[0]!, sides[1]!];
  for (const [what, how] of [
    ["a creation alone", "alone"],
    ["8 groups of 3 at once, one key", "groups"],
  ] as const) {
    const [a, b] = [median(without[how]), median(with_[how])];
    console.log(
      `${what}: ${a.toFixed(2)} ms, with a limit of waiting runs ${b.toFixed(2)} ms: ratio ${(b / a).toFixed(2)}`,
    );
  }
  await Promise.all(sides.map(({ sql }) => sql.end()));
  return true;
}

/** Claims as fast as possible with 3 connections, and counts the starts in every period. */
async function throttle(sql: Sql): Promise<boolean> {
  const rule = { key: "metadata.customer", limit: 60, period: 60, burst: 5 };
  await prepare(sql, { throttle: [rule] });
  await createRuns(
    sql,
    Array.from({ length: 200 }, () => newRun("a")),
  );
  const until = performance.now() + Number(options.seconds) * 1000;
  const claimAll = async () => {
    while (performance.now() < until) {
      await finish(sql, await claimRuns(sql, server, 10));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  await Promise.all([claimAll(), claimAll(), claimAll()]);
  const starts = (
    await sql<{ at: number }[]>`
      select extract(epoch from started_at)::float8 as at from runs where started_at is not null order by 1`
  ).map(({ at }) => at);
  const most = Math.max(...starts.map((from) => starts.filter((at) => at >= from && at < from + rule.period).length));
  const span = starts.at(-1)! - starts[0]!;
  const permitted = rule.burst + Math.floor((span * rule.limit) / rule.period);
  console.log(
    `${starts.length} starts in ${span.toFixed(1)} s, ${permitted} permitted; at most ${most} in ${rule.period} s ` +
      `(limit ${rule.limit}, burst ${rule.burst})`,
  );
  return Math.abs(starts.length - permitted) <= 1 && most <= rule.limit + rule.burst;
}

/** Plays random runs, one start at a time, and checks the turns of users and the bound of every wait. */
async function fair(sql: Sql): Promise<boolean> {
  const ageing = 1;
  const classes = [{ name: "chat" }, { name: "default" }, { name: "batch" }];
  await prepare(sql, { priority: classes, ageing, fair: "metadata.customer" });
  const random = numbers(Number(options.seed));
  const known = new Map<string, { user: string; highestAt: number }>();
  const starts: { run: string; at: number }[] = [];
  const until = performance.now() + Number(options.seconds) * 1000;
  while (performance.now() < until || known.size > starts.length) {
    if (performance.now() < until && known.size - starts.length < 400) {
      const user = `u${Math.floor(random() ** 3 * 20)}`;
      const rank = Math.floor(random() * classes.length);
      const burst = Array.from({ length: 1 + Math.floor(random() ** 4 * 30) }, () => ({
        ...newRun(user),
        kwargs: JSON.stringify({ config: { heddle: { queue: { priority: classes[rank]!.name } } } }),
      }));
      await createRuns(sql, burst);
      const rows = await sql<{ run_id: string; at: number }[]>`
        select run_id, extract(epoch from created_at)::float8 as at from runs where run_id = any(${burst.map(({ runId }) => runId)})`;
      for (const { run_id: runId, at } of rows) known.set(runId, { user, highestAt: at + rank * ageing });
    }
    for (let n = 0; n < 6; n++) {
      const [row] = await sql<{ run_id: string; thread_id: string; at: number }[]>`
        select run_id, thread_id, extract(epoch from clock_timestamp())::float8 as at from claim_runs(${server}, 1)`;
      if (!row) break;
      starts.push({ run: row.run_id, at: row.at });
      await finish(sql, [row]);
    }
  }
  let worst = 0;
  let waited = 0;
  for (const [at, { run }] of starts.entries()) {
    const { user, highestAt } = known.get(run)!;
    // a claim takes its time
    const between = starts.slice(0, at + 1).filter((start) => start.at > highestAt + 0.1);
    const counts = new Map<string, number>();
    for (const start of between) {
      const by = known.get(start.run)!.user;
      counts.set(by, (counts.get(by) ?? 0) + 1);
    }
    const own = counts.get(user) ?? 1;
    for (const count of counts.values()) worst = Math.max(worst, count - own);
    waited = Math.max(waited, between.length - own * counts.size);
  }
  console.log(
    `${starts.length} starts of ${new Set([...known.values()].map(({ user }) => user)).size} users: in the highest class ` +
      `a user was at most ${worst} starts ahead of one that waited; waits exceed n × k starts by at most ${Math.max(0, waited)}`,
  );
  return worst <= 2;
}

const { database, close } = await startOwnPostgres("flow-load");
try {
  const admin = connect(database, { max: 1 });
  const open = async (name: string, max = 1): Promise<Sql> => {
    await admin`create database ${admin(name)}`;
    const uri = new URL(database.uri);
    uri.pathname = `/${name}`;
    return connect({ ...database, uri: uri.href }, { max, silenceMs: 0 });
  };
  console.log(`load average ${loadavg()[0]!.toFixed(1)}`);
  if (options.cost && !(await cost(open))) process.exitCode = 1;
  if (options.admission && !(await admission(open))) process.exitCode = 1;
  for (const [name, check] of [
    ["throttle", throttle],
    ["fair", fair],
  ] as const) {
    if (!options[name]) continue;
    const sql = await open(name, 3);
    if (!(await check(sql))) process.exitCode = 1;
    await sql.end();
  }
  if (options.simulate) {
    const rules = { concurrency: [{ key: "metadata.customer", limit: 4 }], fair: "metadata.customer" };
    for (const [name, declared] of [
      ["without", null],
      ["with", rules],
    ] as const) {
      const sql = await open(name);
      const { light, heavy, broken, total, users } = await simulate(sql, declared, declared === null ? undefined : 4);
      const show = (waits: number[]) =>
        [0.5, 0.99].map((p) => `p${p * 100} ${percentile(waits, p).toFixed(1)} s`).join(", ") +
        `, longest ${Math.max(...waits).toFixed(1)} s`;
      console.log(
        `${name} flow control: ${total} runs of ${users} users, ${options.slots} slots; users of up to 20 runs wait ` +
          `${show(light)}; the others ${show(heavy)}; limits exceeded ${broken} times`,
      );
      if (broken > 0) process.exitCode = 1;
      await sql.end();
    }
  }
  await admin.end();
} finally {
  await close();
}
