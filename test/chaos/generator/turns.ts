import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import type { Operation } from "../check/world.ts";
import { collect, readStream } from "./read-stream.ts";
import { LONG_MS, type Reachable, type Session } from "./session.ts";

/** Number of runs after which a thread is abandoned or deleted. */
const THREAD_RUNS = 16;
const STRATEGIES = ["enqueue", "enqueue", "enqueue", "enqueue", "interrupt", "rollback", "reject"] as const;
const MODES = ["create", "create", "wait", "stream", "stream", "stream"] as const;

interface Turn {
  id: string;
  runs: number;
  inflight: number;
}

/** Threads that several scenarios share, so that runs meet on them. */
export class TurnThreads {
  readonly #session: Session;
  readonly #size: number;
  #threads: Turn[] = [];

  constructor(session: Session, size: number) {
    this.#session = session;
    this.#size = size;
  }

  async take(): Promise<Turn | undefined> {
    const free = this.#threads.filter(({ inflight }) => inflight < 4);
    if (this.#threads.length < this.#size || free.length === 0) {
      const id = await this.#session.createThread();
      if (id === undefined) return undefined;
      free.push({ id, runs: 0, inflight: 0 });
      this.#threads.push(free.at(-1)!);
    }
    const thread = this.#session.pick(free);
    thread.runs++;
    thread.inflight++;
    return thread;
  }

  /** Returns a thread to the pool; after `THREAD_RUNS` runs it is abandoned, or deleted while its runs execute. */
  async leave(thread: Turn): Promise<void> {
    thread.inflight--;
    if (thread.runs < THREAD_RUNS || !this.#threads.includes(thread)) return;
    this.#threads = this.#threads.filter((other) => other !== thread);
    if (this.#session.chance(0.25)) await deleteThread(this.#session, thread.id);
  }
}

/** Retries a deletion until the outcome is known: after a lost answer the next one is 404. */
export async function deleteThread(session: Session, thread: string): Promise<void> {
  await session.untilKnown("thread.delete", { thread }, (client) => client.threads.delete(thread));
}

/**
 * Starts a run of several steps, created, waited for or streamed, with any strategy, and with readers on both servers.
 */
export async function turn(session: Session, threads: TurnThreads): Promise<void> {
  const thread = await threads.take();
  if (!thread) return;
  try {
    const mode = session.pick(MODES);
    const about = newRun(session, thread.id, mode);
    if (mode === "stream") await streamed(session, about);
    else if (mode === "wait") await waited(session, about);
    else await created(session, about);
  } finally {
    await threads.leave(thread);
  }
}

type NewRun = ReturnType<typeof newRun>;

function newRun(session: Session, thread: string, mode: (typeof MODES)[number]) {
  const token = session.token();
  const steps = session.between(1, 4);
  const webhook = session.chance(0.25);
  const strategy = session.pick(STRATEGIES);
  const resumable = mode === "stream" && session.chance(0.7);
  const key = session.chance(0.3) ? randomUUID() : undefined;
  const headers: Record<string, string> = key === undefined ? {} : { "Idempotency-Key": key };
  const job = { token, steps, pause: session.between(30, 500), frames: session.between(0, 10) };
  return {
    about: {
      thread,
      token,
      steps,
      webhook,
      strategy,
      resumable,
      graph: "steps",
      mode,
      ...(key !== undefined && { key }),
    },
    payload: {
      input: { job },
      metadata: { token, ...(key !== undefined && { key }) },
      multitaskStrategy: strategy,
      ...(webhook && { webhook: session.webhookUrl }),
    },
    headers,
  };
}

/** Repeats a request with an idempotency key until its outcome is known; sends a request without a key once. */
async function send(
  session: Session,
  { about, headers }: NewRun,
  work: Parameters<Session["operation"]>[2],
): Promise<Operation> {
  for (;;) {
    const { operation } = await session.operation("run.create", about, work, headers);
    if (operation.outcome !== "unknown" || about.key === undefined || session.isStopping) return operation;
    await sleep(300);
  }
}

async function created(session: Session, run: NewRun): Promise<void> {
  const operation = await send(session, run, async (client, op) => {
    const { run_id } = await client.runs.create(run.about.thread, "steps", {
      ...run.payload,
      streamMode: ["values", "custom"],
    });
    session.accept(op, run_id);
  });
  if (operation.run === undefined || !session.chance(0.3)) return;
  await readStream(session, { thread: run.about.thread, run: operation.run, resumable: false }, session.server());
}

async function waited(session: Session, run: NewRun): Promise<void> {
  await send(session, run, async (client, op) => {
    const values = await client.runs.wait(run.about.thread, "steps", {
      ...run.payload,
      raiseError: false,
      signal: AbortSignal.timeout(LONG_MS),
      onRunCreated: ({ run_id }) => session.accept(op, run_id),
    });
    const { done } = (values ?? {}) as { done?: string[] };
    if (done) op.done = done;
  });
}

/** Reads the stream as its creator, and with other readers on both servers; each reader has its own operation. */
async function streamed(session: Session, run: NewRun): Promise<void> {
  const { thread, resumable } = run.about;
  const readers: Promise<void>[] = [];
  const join = (id: string) => {
    const servers: Reachable[] = resumable ? ["api", "worker1", session.server()] : [session.server()];
    for (const server of servers) {
      const late = session.between(0, 3000);
      readers.push(sleep(late).then(() => readStream(session, { thread, run: id, resumable }, server)));
    }
  };
  const operation = await send(session, run, async (client, op) => {
    const read = session.history.invoke("stream.read", { thread, resumable, reader: `creator-${op.id}`, frames: [] });
    try {
      const parts = client.runs.stream(thread, "steps", {
        ...run.payload,
        streamMode: ["values", "custom"],
        streamResumable: resumable,
        signal: AbortSignal.timeout(LONG_MS),
        onRunCreated: ({ run_id }) => {
          read.run = run_id;
          const isFirst = op.run === undefined;
          session.accept(op, run_id);
          if (resumable && isFirst) join(run_id);
        },
      });
      await collect(read, parts);
      session.history.complete(read, { outcome: "ok", closed: "whole" });
    } catch (error) {
      session.history.complete(read, { outcome: "unknown", closed: "broken", error: String(error).slice(0, 200) });
      // the response head acknowledged the run; only the stream broke
      if (op.run === undefined) throw error;
    }
  });
  if (operation.run !== undefined && !resumable && session.chance(0.3)) join(operation.run);
  await Promise.all(readers);
}
