import { answerCall, type CallDeps } from "./calls/answer-call.ts";
import { CallError } from "./calls/call-error.ts";
import { CheckpointClock, processClock } from "./checkpoints/checkpoint-clock.ts";
import { DatabaseAwayError } from "./checkpoints/errors.ts";
import { complain } from "./complain.ts";
import { Connection } from "./connection.ts";
import type { Graph } from "./graphs/graph.ts";
import type { FactoryRuntime, LoadedGraph } from "./graphs/load-graphs.ts";
import { releaseMemoryWhenIdle } from "../../host-kit/src/idle-memory.ts";
import {
  PROTOCOL_VERSION,
  type HostCalls,
  type LostTrace,
  type RunKwargs,
  type RunStart,
  type ServerFrame,
  type WireError,
} from "../../host-kit/src/host-protocol.ts";
import { StateCipher } from "../../host-kit/src/state-cipher.ts";
import type { Lifespan } from "./lifespan.ts";
import { RemoteStore } from "./remote-store.ts";
import { ActiveRun, currentWork } from "./runs/active-run.ts";
import { executeRun, type RunDeps } from "./runs/execute-run.ts";
import { describeError, toOutcome } from "./runs/run-outcome.ts";
import type { Savers } from "./savers.ts";
import { RunTracing } from "./tracing/run-tracing.ts";
import { warmUp } from "./warm-up.ts";
import { errorName, toSharedParts } from "./serialize.ts";
import { encodeSharedJson } from "../../host-kit/src/shared-json.ts";

interface HostInput {
  graphs: Map<string, LoadedGraph>;
  savers: Savers;
  langgraphVersion: string;
  readTypes: CallDeps["readTypes"];
}

/** EX_SOFTWARE of sysexits.h. */
const EXIT_SOFTWARE = 70;

/** Longest time for which a process that is no longer needed waits for its last traces. */
const FLUSH_MS = 5000;

type Waiting = { resolve(results: unknown[]): void; reject(error: Error): void };

/** Handles the server's frames: runs and calls execute concurrently, each in a separate async context. */
export class Host {
  readonly connection: Connection;
  #graphs: Map<string, LoadedGraph> = new Map();
  #deps: (RunDeps & CallDeps) | undefined;
  #langgraphVersion = "";
  #runs = new Map<string, ActiveRun>();
  #storeCalls = new Map<number, Waiting>();
  #nextStoreCall = 1;
  readonly #tracing = new RunTracing();
  #draining = false;
  #listsWhole = false;
  #cipher: StateCipher | undefined;
  /** The process is exiting by itself, and its server is to see the exit code. */
  #leaving = false;
  #exitCode = 0;
  readonly #takeFiles: () => string[];
  readonly #lifespan: Pick<Lifespan, "stop"> | undefined;

  /** @param takeFiles returns the project's files that were loaded since the last call */
  constructor(fd: number, takeFiles: () => string[] = () => [], lifespan?: Pick<Lifespan, "stop">) {
    this.#takeFiles = takeFiles;
    this.#lifespan = lifespan;
    // Without its server the host's results have no receiver, and another host may already run the same work. It exits
    // as the watchdog does, because Node's own exit runs user code first and waits for all threads: one was found
    // waiting 20 minutes later.
    this.connection = new Connection(
      fd,
      (header, body) => this.#receive(header, body),
      () => (this.#leaving ? process.exit(this.#exitCode) : process.kill(process.pid, "SIGKILL")),
    );
  }

  ready({ graphs, savers, langgraphVersion, readTypes }: HostInput): void {
    this.#graphs = graphs;
    this.#langgraphVersion = langgraphVersion;
    this.#deps = {
      savers,
      store: new RemoteStore((operations) => this.#callStore(operations)),
      langgraphVersion,
      readTypes,
      openGraph: (id, config, runtime) => this.#openGraph(id, config, runtime),
      sendEvent: (run_id, event, body) => this.connection.send({ t: "event", run_id, event }, body),
      sendMark: (run_id, checkpoint_id) => this.connection.send({ t: "mark", run_id, checkpoint_id }),
      sendResumed: (run_id, checkpoint_id) => this.connection.send({ t: "run.resumed", run_id, checkpoint_id }),
      pause: () => this.connection.drained,
      tracing: this.#tracing,
    };
    savers.storeListsWhole(this.#listsWhole);
    if (this.#cipher) savers.encryptWith(this.#cipher);
    const statuses = Object.fromEntries([...graphs].map(([id, graph]) => [id, graph.status]));
    this.connection.send({
      t: "ready",
      protocol: PROTOCOL_VERSION,
      langgraph_version: this.#langgraphVersion,
      graphs: statuses,
    });
    releaseMemoryWhenIdle({ isBusy: () => this.#runs.size > 0 });
    void warmUp(this.#deps, () => this.#runs.size > 0 || this.#draining).catch((error: unknown) =>
      complain("The warm-up run failed; this has no effect on runs:", error),
    );
  }

  /** Handles an error of user code outside any awaited promise. */
  uncaught(error: unknown): void {
    const work = currentWork.getStore();
    if (work) work.fail(error);
    else void this.#fault(error);
  }

  async #fault(error: unknown): Promise<void> {
    const { error: name, message, stack } = describeError(error);
    complain("An error outside any run:", error);
    this.#leaving = true;
    this.#exitCode = EXIT_SOFTWARE;
    this.connection.send({ t: "fault", message: stack ?? `${name}: ${message}` });
    setTimeout(() => process.exit(EXIT_SOFTWARE), 1000);
    await this.connection.end();
    process.exit(this.#exitCode);
  }

  #receive(header: ServerFrame, body: Buffer): void {
    switch (header.t) {
      case "ping": {
        const files = this.#takeFiles();
        if (files.length > 0) this.connection.send({ t: "loaded" }, JSON.stringify(files));
        const { rss, heapUsed } = process.memoryUsage();
        return this.connection.send({ t: "pong", n: header.n, rss, heap: heapUsed });
      }
      case "run.start":
        return void this.#run(header, JSON.parse(body.toString()) as RunKwargs);
      case "run.cancel":
        return this.#runs.get(header.run_id)?.stop({ outcome: "cancelled" }, new Error(header.reason));
      case "run.hold": {
        const run = this.#runs.get(header.run_id);
        if (run) run.holdsEnd = true;
        return;
      }
      case "call":
        return void this.#answer(header.id, header.method, JSON.parse(body.toString()) as never);
      case "store.result":
        return this.#storeAnswered(header.id, header.error, body);
      case "trace.to":
        return this.#tracing.direct(header.to);
      case "lists.whole":
        this.#listsWhole = header.whole;
        return this.#deps?.savers.storeListsWhole(header.whole);
      case "state.keys":
        this.#cipher = new StateCipher(header.keys);
        return this.#deps?.savers.encryptWith(this.#cipher);
      case "trace.close":
        return this.#tracing.close(JSON.parse(body.toString()) as LostTrace);
      case "trace.flush":
        return void this.#tracing.flush(header.ms).then(() => this.connection.send({ t: "trace.flushed" }));
      case "drain":
        this.#draining = true;
        return void this.#exitIfDrained();
      case "close":
        return void this.#close();
      case "checkpoint.result":
        throw new Error("this host writes its checkpoints itself");
      default:
        throw new Error(`unknown frame "${(header satisfies never as { t: string }).t}"`);
    }
  }

  async #run(start: RunStart, kwargs: RunKwargs): Promise<void> {
    const run = new ActiveRun(start);
    this.#runs.get(start.run_id)?.supersede();
    this.#runs.set(start.run_id, run);
    const { result, ...end } = await currentWork.run(
      { runId: start.run_id, fail: (error) => this.#failRun(run, error), clock: new CheckpointClock(processClock) },
      () => executeRun(this.#deps!, run, kwargs),
    );
    if (this.#runs.get(start.run_id) !== run) return; // superseded: ignore its end
    this.#runs.delete(start.run_id);
    this.connection.send({ t: "run.end", run_id: start.run_id, attempt: start.attempt, ...end }, result);
    void this.#exitIfDrained();
  }

  #failRun(run: ActiveRun, error: unknown): void {
    if (run.closed || run.stopped)
      return complain(`Run ${run.start.run_id} has ended, but its code threw an error:`, error);
    run.stop(toOutcome(error, undefined), error);
  }

  async #answer<M extends keyof HostCalls>(id: number, method: M, params: HostCalls[M]["params"]): Promise<void> {
    try {
      const reply = await new Promise<unknown>((resolve, reject) => {
        void currentWork.run({ fail: reject, clock: new CheckpointClock(processClock) }, () =>
          answerCall(this.#deps!, method, params).then(resolve, reject),
        );
      });
      const parts = toSharedParts(reply);
      if (parts.length === 1) this.connection.send({ t: "result", id }, parts[0] as string);
      else this.connection.send({ t: "result", id, shared: true }, encodeSharedJson(parts));
    } catch (error) {
      this.connection.send({ t: "result", id, error: wireError(error) });
    }
  }

  async #openGraph(id: string, config: object, runtime: FactoryRuntime): Promise<Graph> {
    const graph = this.#graphs.get(id);
    if (!graph) throw new CallError(404, "GraphNotFound", `Graph "${id}" not found`);
    if (!graph.status.ok)
      throw new CallError(500, "GraphNotLoaded", `Graph "${id}" could not be loaded: ${graph.status.error}`);
    return (graph as LoadedGraph & { open: (config: object, runtime: FactoryRuntime) => Promise<Graph> }).open(
      config,
      runtime,
    );
  }

  #callStore(operations: string): Promise<unknown[]> {
    const id = this.#nextStoreCall++;
    return new Promise((resolve, reject) => {
      this.#storeCalls.set(id, { resolve, reject });
      this.connection.send({ t: "store.call", id }, operations);
    });
  }

  #storeAnswered(id: number, error: WireError | undefined, body: Buffer): void {
    const waiting = this.#storeCalls.get(id);
    this.#storeCalls.delete(id);
    if (error) waiting?.reject(Object.assign(new Error(error.message), { name: error.name }));
    else waiting?.resolve(JSON.parse(body.toString()) as unknown[]);
  }

  /** Ends the process for good. Its runs go to another one. */
  async #close(): Promise<void> {
    this.#draining = true;
    this.#leaving = true;
    for (const run of this.#runs.values()) run.supersede();
    await this.#lifespan?.stop();
    process.exit(0);
  }

  async #exitIfDrained(): Promise<void> {
    if (!this.#draining || this.#runs.size > 0) return;
    await Promise.all([this.#deps?.savers.close(), this.#tracing.flush(FLUSH_MS), this.#lifespan?.stop()]);
    this.#leaving = true;
    await this.connection.end();
    process.exit(0);
  }
}

function wireError(error: unknown): WireError {
  if (error instanceof CallError) return error.wire;
  if (error instanceof DatabaseAwayError) return { status: 503, name: error.name, message: error.message };
  if (!(error instanceof Error)) return { status: 500, name: "Error", message: describeError(error).message };
  return { status: 500, name: errorName(error), message: error.message };
}
