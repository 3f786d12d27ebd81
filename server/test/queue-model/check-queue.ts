/**
 * Plays random sequences of the queue's calls, as several servers send them, on a real Postgres and on the model. After
 * every command the results, the tables and the laws are compared. A command is a call; a call that is sent twice
 * because its answer was lost; or two concurrent calls on two connections, which must be equivalent to one order or the
 * other. At the end of a sequence the queue is drained: every accepted run ends.
 */
import assert from "node:assert/strict";

import fc from "fast-check";

import { connect, type DatabaseAddress, type Sql } from "../../src/base/db/connect.ts";
import { graphRules, type QueueRules } from "../../src/agent/project/queue-config.ts";
import { putQueueRules } from "../../src/agent/runs/sql.ts";
import { upsertServer } from "../../src/agent/servers/sql.ts";
import { CheckpointDatabase } from "../../../graph-host/src/checkpoints/checkpoint-database.ts";
import { installClock, RESET_CLOCK } from "./clock.ts";
import { brokenLaws, type History } from "./laws.ts";
import { claimable, emptyModel, isUnfinished, type Model } from "./model.ts";
import type { Call, Names, Step } from "./call.ts";
import { callFrom, type Plan } from "./operations.ts";
import { GRAPHS, registration } from "./server-calls.ts";
import { BESIDE_FLOW, crowdedPlans, crowdedRules, endAndClaim, leftOut, planArbitrary, rules } from "./plans.ts";
import { assistantId, difference, readRows, type Rows, rowsFrom, threadId } from "./rows.ts";

export interface QueueCheck {
  sequences: number;
  commands: number;
  /** Shortest counterexample that was found. */
  violation: string | undefined;
}

interface World {
  /** The first connection reads the tables; the others send concurrent calls. */
  connections: [Sql, Sql, Sql];
  /** Graph hosts' connections, which write checkpoints. */
  hosts: [CheckpointDatabase, CheckpointDatabase];
  names: Names;
  rows: Rows;
  history: History;
  story: string[];
  /** Kinds of calls to skip. */
  leftOut: Plan["kind"][];
}

interface Holder {
  model: Model;
}

type Counts = Omit<QueueCheck, "violation">;

/** Checks the queue on a migrated database without other users; its rows are deleted. */
export async function checkQueue(
  database: DatabaseAddress,
  options: {
    sequences: number;
    seed: number;
    /** No sequence begins later. */
    seconds?: number;
    /** Whether a counterexample is reported as it was found. Default: the shortest one. */
    unshrunk?: boolean;
    /** The only declaration to play, with the calls that matter to flow control. Default: random ones. */
    rules?: QueueRules;
    /** Whether all sequences are of many runs that need each other's keys. Default: some are. */
    crowded?: boolean;
    /** Receives the counts after every 500 sequences, those of the shrinking included. */
    progress?: (counts: Readonly<Counts>) => void;
  },
): Promise<QueueCheck> {
  await installClock(database);
  const counts: Counts = { sequences: 0, commands: 0 };
  const connections = [1, 2, 3].map(() => connect(database, { max: 1 })) as World["connections"];
  const { uri, socket } = database;
  const hosts = [1, 2].map(() => new CheckpointDatabase(uri, { socket })) as World["hosts"];
  const declarations = options.rules && fc.constant(options.rules);
  const usual = fc.record({
    omitted: options.rules ? fc.constant(BESIDE_FLOW) : leftOut,
    declared: declarations ?? rules,
    commands: fc.commands(commandArbitraries(counts), { maxCommands: 60, size: "max" }),
  });
  const crowded = fc.record({
    omitted: fc.constant<Plan["kind"][]>([]),
    declared: declarations ?? crowdedRules,
    commands: fc.commands(
      [
        crowdedPlans.map((plan) => new QueueCommand([plan], "once", counts)),
        endAndClaim.map((plans) => new QueueCommand(plans, "in turn", counts)),
      ],
      { maxCommands: 150, size: "max" },
    ),
  });
  const sequences =
    options.crowded === true
      ? crowded
      : options.rules
        ? usual
        : fc.oneof({ weight: 7, arbitrary: usual }, { weight: 1, arbitrary: crowded });
  const property = fc.asyncProperty(sequences, async ({ omitted: kinds, declared, commands }) => {
    const world = { ...(await newWorld(connections, hosts, counts, declared)), leftOut: kinds };
    const holder: Holder = { model: emptyModel(declared) };
    GRAPHS.forEach((graphs, server) => holder.model.servers.set(server, graphs));
    await fc.asyncModelRun(() => ({ model: holder, real: world }), commands);
    await drain(holder, world);
    if (counts.sequences % 500 === 0) options.progress?.(counts);
  });
  try {
    const { sequences: most, seed, seconds, unshrunk } = options;
    const found = await fc.check(property, {
      ...{ numRuns: most, seed, endOnFailure: unshrunk ?? false },
      ...(seconds !== undefined && { interruptAfterTimeLimit: seconds * 1000 }),
    });
    if (!found.failed) return { ...counts, violation: undefined };
    const error = found.errorInstance as Error;
    return { ...counts, violation: `${error.message}\n(seed ${seed})` };
  } finally {
    await Promise.all([...hosts.map((host) => host.close()), ...connections.map((sql) => sql.end())]);
  }
}

const commandArbitraries = (counts: Counts) => [
  planArbitrary.map((plan) => new QueueCommand([plan], "once", counts)),
  planArbitrary.map((plan) => new QueueCommand([plan], "once", counts)),
  repeatable.map((plan) => new QueueCommand([plan], "twice", counts)),
  fc.tuple(timeless, timeless).map((plans) => new QueueCommand(plans, "at once", counts)),
  fc.tuple(timeless, timeless).map((plans) => new QueueCommand(plans, "held", counts)),
];

/** A call has one time, the model's. */
const timeless = planArbitrary.filter(({ kind }) => kind !== "timePasses");

/** Calls that are sent again when their answer was lost. A second claim would take more runs. */
const repeatable = planArbitrary.filter(
  ({ kind }) => !["claim", "register", "timePasses", "refresh", "sweep"].includes(kind),
);

class QueueCommand implements fc.AsyncCommand<Holder, World> {
  readonly #plans: Plan[];
  readonly #how: "once" | "twice" | "in turn" | "at once" | "held";
  readonly #counts: Counts;

  constructor(plans: Plan[], how: "once" | "twice" | "in turn" | "at once" | "held", counts: Counts) {
    this.#plans = plans;
    this.#how = how;
    this.#counts = counts;
  }

  check(): boolean {
    return true;
  }

  async run(holder: Holder, world: World): Promise<void> {
    if (this.#how === "in turn") {
      for (const plan of this.#plans) await new QueueCommand([plan], "once", this.#counts).run(holder, world);
      return;
    }
    const calls = this.#plans
      .filter(({ kind }) => !world.leftOut.includes(kind))
      .map((plan) => callFrom(plan, holder.model, world.names))
      .filter((call) => call !== undefined);
    if (calls.length === 0) return;
    this.#counts.commands += 1;
    world.story.push(
      calls.map(({ text }) => text).join(`  |  ${this.#how}  |  `) + (this.#how === "twice" ? ", twice" : ""),
    );
    if (calls.length > 1) await sendAtOnce(holder, world, calls, this.#how === "held");
    else {
      await sendAlone(holder, world, calls[0]!);
      if (this.#how !== "twice") return;
      const once = world.rows;
      await sendAlone(holder, world, calls[0]!);
      agree(world, () => assert.equal(difference(world.rows, once), "", "the second call had an effect"));
    }
  }

  toString(): string {
    return JSON.stringify(this.#plans);
  }
}

async function sendAlone(holder: Holder, world: World, call: Call): Promise<void> {
  const [sql] = world.connections;
  const sent = call.send(sql, world.hosts[0]);
  const read = call.direct ? readRows(sql) : undefined;
  const [history] = await Promise.allSettled([sent, read]);
  const steps = answered(world, history);
  const rows = await (read ?? readRows(sql));
  agree(world, () => {
    if (call.seconds !== undefined) world.history.now += call.seconds;
    assert.deepEqual(brokenLaws(world.rows, rows, call.seconds !== undefined, world.history), []);
    for (const step of steps) step(holder.model, false);
    assert.equal(difference(rows, rowsFrom(holder.model)), "", "the tables are not as the model says");
  });
  world.rows = rows;
}

/**
 * Sends both concurrently. `held`: while a third connection locks the threads, so that both have begun before either
 * proceeds.
 */
async function sendAtOnce(holder: Holder, world: World, calls: Call[], held: boolean): Promise<void> {
  const [sql, ...others] = world.connections;
  const threads = [...holder.model.threads.keys()].map(threadId);
  let sent: Promise<Step[]>[] = [];
  const send = () => {
    sent = calls.map((call, at) => call.send(others[at]!, world.hosts[at]!));
  };
  if (held) {
    await sql.begin(async (tx) => {
      await tx`select 1 from threads where thread_id = any(${threads}::uuid[]) order by thread_id for update`;
      send();
      await tx`select pg_sleep(0.002)`;
    });
  } else send();
  const histories = (await Promise.allSettled(sent)).map((history) => answered(world, history));
  const rows = await readRows(sql);
  agree(world, () => {
    assert.deepEqual(brokenLaws(world.rows, rows, true, world.history), []);
    const result = linearize(holder.model, histories, rows);
    if (!result.model)
      throw new assert.AssertionError({ message: `no order of the calls explains this:\n${result.why}` });
    holder.model = result.model;
  });
  world.rows = rows;
}

function answered(world: World, history: PromiseSettledResult<Step[]>): Step[] {
  if (history.status === "rejected") agree(world, () => assert.fail(String(history.reason)));
  return history.status === "fulfilled" ? history.value : [];
}

/** Searches for an interleaving of the histories in which all results and the rows agree with the model. */
function linearize(from: Model, histories: Step[][], rows: Rows): { model?: Model; why: string } {
  const left = histories.filter((steps) => steps.length > 0);
  if (left.length === 0) {
    const why = difference(rows, rowsFrom(from));
    return why === "" ? { model: from, why } : { why };
  }
  let why = "";
  for (const [at, [step, ...rest]] of left.entries()) {
    const model = structuredClone(from);
    try {
      step!(model, true);
    } catch (error) {
      why += `${(error as Error).message}\n`;
      continue;
    }
    const result = linearize(model, left.with(at, rest), rows);
    if (result.model) return result;
    why += result.why;
  }
  return { why };
}

/** Drains the queue: every run left over by time, retries and lost servers ends once. */
async function drain(holder: Holder, world: World): Promise<void> {
  const all: Plan[] = [
    { kind: "register", server: 0 },
    { kind: "timePasses", seconds: 60 },
    { kind: "sweep", server: 0 },
  ];
  const play = async (plan: Plan) => {
    const call = callFrom(plan, holder.model, world.names);
    if (!call) return;
    world.story.push(`drain: ${call.text}`);
    await sendAlone(holder, world, call);
  };
  for (const plan of all) await play(plan);
  for (let open = unfinished(holder); open > 0; open = unfinished(holder)) {
    await play({ kind: "timePasses", seconds: 60 });
    if (unfinished(holder) < open) continue;
    await play({ kind: "claim", server: 0, limit: 3 });
    for (const { status } of holder.model.runs.slice()) {
      if (status === "running") await play({ kind: "finish", run: 9, stale: false, outcome: "success", state: null });
    }
    agree(world, () =>
      assert(unfinished(holder) < open, `${open} runs never end, ${claimable(holder.model, 0).length} can be claimed`),
    );
  }
}

const unfinished = ({ model }: Holder): number => model.runs.filter(isUnfinished).length;

/** Adds the history to an error. */
function agree(world: World, check: () => void): void {
  try {
    check();
  } catch (error) {
    throw new Error(`${world.story.map((line, n) => `${n}. ${line}`).join("\n")}\n${(error as Error).message}`);
  }
}

const TABLES = [
  ...["checkpoints", "checkpoint_blobs", "checkpoint_writes", "runs", "threads", "servers", "webhook_deliveries"],
  ...["assistants", "run_queue_rules", "run_queue_events", "run_lanes", "run_ready", "run_slots", "run_rates"],
];

async function newWorld(
  connections: World["connections"],
  hosts: World["hosts"],
  counts: Counts,
  rules: QueueRules | null,
): Promise<World> {
  const [sql] = connections;
  counts.sequences += 1;
  // dead tuples slow down every statement
  const empty =
    counts.sequences % 50 === 1
      ? [`truncate ${TABLES.join(", ")} cascade`]
      : TABLES.map((table) => `delete from ${table}`);
  await sql.unsafe(`${empty.join(";")};
    update run_queue_clock set vtimes = default; ${RESET_CLOCK};
    insert into assistants (assistant_id, graph_id, name)
    values ('${assistantId("a")}', 'a', 'a'), ('${assistantId("b")}', 'b', 'b')`);
  if (rules) await putQueueRules(sql, { a: graphRules(rules, "a"), b: graphRules(rules, "b") });
  for (const [server, graphs] of GRAPHS.entries()) await upsertServer(sql, registration(server, graphs));
  const names = { threads: [], steps: 0, servers: [0, 1, 2] };
  const history = { rules, now: 0, starts: new Map() };
  const declared = `rules: ${JSON.stringify(rules)}`;
  return { connections, hosts, names, rows: await readRows(sql), history, story: [declared], leftOut: [] };
}
