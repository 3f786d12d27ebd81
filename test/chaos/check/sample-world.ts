import type { CheckpointRow, Frame, LedgerLine, Operation, OperationName, RunRow, ThreadView, World } from "./world.ts";

/** Returns a small world in which every law holds; tests of the checks break it in one place. */
export function sampleWorld(): World {
  const world: World = {
    operations: [],
    faults: [{ id: 900, kind: "freeze-hosts", target: "worker1", begin: 100, end: 200, pids: [77] }],
    calms: [{ from: 10_000, to: 60_000 }],
    health: [
      { sent: 11_000, t: 11_010, server: "api", endpoint: "/ok", status: 200 },
      { sent: 11_000, t: 11_010, server: "api", endpoint: "/ready", status: 200 },
    ],
    exits: [],
    hooks: [],
    ledger: [],
    runs: [],
    threads: [],
    checkpoints: [],
    streams: [],
    end: 50_000,
    settledAt: 49_000,
  };
  addRun(world, { run: "r1", token: "one", seq: 1, at: 1000 });
  addRun(world, { run: "r2", token: "two", seq: 2, at: 2000 });
  world.threads.push(threadView(["one/1", "one/2", "two/1", "two/2"], world.checkpoints));
  addStream(world, "r1");
  addWebhook(world, "r2");
  return world;
}

export const THREAD = "t1";

export function threadView(done: string[], checkpoints: CheckpointRow[]): ThreadView {
  const head = checkpoints.at(-1)!.id;
  return {
    thread: THREAD,
    rows: 9,
    answer: 200,
    status: "idle",
    head,
    history: [head],
    saverHead: head,
    done,
    answers: [],
    saverDone: done,
    valuesDone: done,
  };
}

/** Adds a successful run of two steps, created at `at`, ended 600 ms later. */
export function addRun(
  world: World,
  { run, token, seq, at }: { run: string; token: string; seq: number; at: number },
): void {
  const id = world.operations.length + 1;
  world.operations.push({
    id,
    name: "run.create",
    invoked: at - 10,
    ended: at + 10,
    accepted: at + 10,
    outcome: "ok",
    thread: THREAD,
    run,
    token,
    steps: 2,
    graph: "steps",
    strategy: "enqueue",
    key: `key-${run}`,
    resumable: true,
  });
  const entries = (seq - 1) * 2;
  for (const step of [1, 2]) {
    const about = { run, thread: THREAD, attempt: 1, pid: 11, token, step, execution: `11.${seq}${step}` };
    const last = entries + step === 1 ? null : step === 1 ? "one/2" : `${token}/${step - 1}`;
    const line: LedgerLine = { t: at + step * 100, phase: "start", ...about, seen: entries + step - 1, last };
    const effect = { ...line, t: at + step * 100 + 40, key: `${run}.${step}` };
    world.ledger.push(line, { ...effect, phase: "effect" }, { ...effect, phase: "used" });
    world.ledger.push({ t: at + step * 100 + 50, phase: "end", ...about, frames: 2 });
    const parent = world.checkpoints.at(-1)?.id ?? null;
    world.checkpoints.push({ thread: THREAD, ns: "", id: `c${seq}${step}`, parent, run });
  }
  world.runs.push(runRow({ run, token, seq, created: at, started: at + 50, ended: at + 600, key: `key-${run}` }));
}

export const runRow = (row: Partial<RunRow> & { run: string; seq: number }): RunRow => ({
  thread: THREAD,
  status: "success",
  attempt: 1,
  error: null,
  token: null,
  key: null,
  cron: null,
  occurrence: null,
  resumedBy: null,
  created: 0,
  started: 0,
  ended: 0,
  streamIncomplete: false,
  ...row,
});

/** Adds the stored stream of a run from `addRun`, and two readers that received all of it. */
function addStream(world: World, run: string): void {
  const ticks = world.ledger
    .filter((line) => line.run === run && line.phase === "end")
    .flatMap(({ execution, token, step }) =>
      [1, 2].map((k) => ({ event: "custom", data: { execution, token, step, k, n: 2 } })),
    );
  const parts = [
    { event: "metadata", data: { run_id: run, attempt: 1 } },
    ...ticks,
    { event: "values", data: { done: ["one/1", "one/2"] } },
  ];
  const frames: Frame[] = parts.map(({ event, data }, id) => ({ id: String(id), event, data: JSON.stringify(data) }));
  world.streams.push({ run, frames, status: "success" });
  for (const reader of ["a", "b"]) addReader(world, { run, reader, frames: frames.map((frame) => ({ ...frame })) });
}

export function addReader(world: World, about: Partial<Operation>): Operation {
  const reader: Operation = {
    id: world.operations.length + 1,
    name: "stream.read",
    invoked: 1000,
    ended: 3000,
    outcome: "ok",
    thread: THREAD,
    resumable: true,
    closed: "whole",
    ...about,
  };
  world.operations.push(reader);
  return reader;
}

function addWebhook(world: World, run: string): void {
  world.operations.find((op) => op.run === run)!.webhook = true;
  world.hooks.push({ t: 3000, id: run, run, status: "success", answered: 200 });
}

export function addOperation(world: World, about: Partial<Operation> & { name: OperationName }): Operation {
  const id = world.operations.length + 1;
  const operation: Operation = { id, invoked: 20_000, ended: 20_010, outcome: "ok", thread: THREAD, ...about };
  world.operations.push(operation);
  return operation;
}
