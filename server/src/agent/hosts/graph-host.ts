import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";

import {
  type BlockingCode,
  type DataKeys,
  encodeFrame,
  FrameReader,
  type GraphStatus,
  type HostCalls,
  type HostFrame,
  type LostTrace,
  PROTOCOL_VERSION,
  type RunEnd,
  type RunStart,
  type ServerFrame,
  type StoreOperation,
  type TraceDestination,
} from "../../../../host-kit/src/host-protocol.ts";
import type { CheckpointDatabase } from "../../../../graph-host/src/checkpoints/checkpoint-database.ts";
import { ServedCheckpoints } from "../../../../graph-host/src/checkpoints/served-checkpoints.ts";
import { SharedJson } from "../../../../host-kit/src/shared-json.ts";
import type { DatabaseAddress } from "../../base/db/connect.ts";
import { deferred, type Deferred } from "../../base/deferred.ts";
import { AppError, coerceError, unavailable } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { OwnCodeApi } from "../project/own-code-api.ts";
import { BlockedLoop, SUSPECT_MS } from "./blocked-loop.ts";
import { hostEnvironment } from "./host-environment.ts";
import type { HostLaunch } from "./host-language.ts";
import type { Project } from "../project/read-project.ts";

/** JSON text of a host's answer. */
export type HostText = Buffer | SharedJson;

/** Callbacks of a host, called in the order of its frames. */
export interface HostEvents {
  onReady(host: GraphHost): void;
  onEvent(runId: string, event: string, data: Buffer): void;
  onRunEnd(end: RunEnd, result: Buffer): void;
  /** See the frames `mark` and `run.resumed`. */
  onMark(runId: string, checkpointId: string): void;
  onResumed(runId: string, checkpointId: string | null): void;
  onStoreCall(operations: StoreOperation[]): Promise<unknown[]>;
  /** The process has exited; its `runs` are those that had not ended. */
  onExit(host: GraphHost, reason: string): void;
}

export interface HostOptions {
  project: Project;
  launch: HostLaunch;
  /** Port of this server, which graphs may call. */
  port: number;
  /** Access of the project's code to this server's API. */
  ownCodeApi: OwnCodeApi;
  database: DatabaseAddress;
  /** Checkpoints of hosts that have no access to the database. */
  checkpoints: () => CheckpointDatabase;
  memoryMb: number;
  /** Largest value of a state, in MiB. */
  maxValueMb: number;
  blockMs: number;
  /** Longest time from the start to the loaded graphs. */
  startMs: number;
  silenceMs: number;
  /** Port on which a debugger can attach. A host that a debugger pauses is silent, so silence is not a failure then. */
  debugPort?: number | undefined;
  log: Log;
}

/** Reason for which a host ends that was started for files that have changed since. */
export const SUPERSEDED = "was replaced before it was ready";
/** Longest pause of a debugger. */
const LONGEST_PAUSE_MS = 86_400_000;
/** Longest delay of the server's stop by the lifespans of the project. */
const CLOSE_MS = 3000;
/** Signals sent by operators and kernels; a process that crashes by itself ends with others. */
const FROM_OUTSIDE = new Set<NodeJS.Signals>(["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"]);
/** Silence after which a host close to its memory limit is collecting garbage in vain. */
const FULL_MS = 10_000;
/**
 * Longest wait for the end of a dead host's stream. It comes at once, unless a child process that the host left behind
 * holds the other end.
 */
const LAST_FRAMES_MS = 500;

/**
 * One graph host process. Starts with `start()`, takes work after `onReady`, ends with `kill()`, by itself after
 * `drain()`, or because user code crashed it; `onExit` is called exactly once in every case.
 */
export class GraphHost {
  readonly runs = new Map<string, { attempt: number; threadId: string }>();
  graphs: Record<string, GraphStatus> = {};
  langgraphVersion = "";
  /** Executes a run that must be alone, and gets no others. */
  isolated = false;
  /** Time since which it has had no run, once it has had one. */
  idleSince = Number.POSITIVE_INFINITY;
  /** The project's files that it has loaded. */
  readonly files = new Set<string>();
  /** Whether it was killed because it did not become ready in time. */
  isOverdue = false;
  state: "starting" | "ready" | "draining" | "dead" = "starting";
  rss = 0;
  /** The run whose code blocked the event loop until the process was killed. */
  culprit: string | undefined;
  /** Reason of a kill, set before it. */
  #killReason: string | undefined;
  #stderrTail = "";
  /** Beginning of what it printed before it was ready. */
  #startErrors = "";
  readonly #options: HostOptions;
  readonly #events: HostEvents;
  #child: ChildProcess | undefined;
  #socket: Socket | undefined;
  #watchdog: Socket | undefined;
  #calls = new Map<number, { method: string; done: Deferred<HostText> }>();
  #nextCall = 1;
  #flushed: (() => void)[] = [];
  #startedAt = performance.now();
  #lastPing = 0;
  #lastPong = 0;
  readonly #blocked: BlockedLoop;
  readonly #checkpoints: ServedCheckpoints | undefined;

  constructor(options: HostOptions, events: HostEvents) {
    this.#options = options;
    this.#events = events;
    if (!options.launch.usesDatabase)
      this.#checkpoints = new ServedCheckpoints(options.checkpoints(), (result, body) => this.#send(result, body));
    this.#blocked = new BlockedLoop({
      ...options,
      pid: () => this.pid,
      runIds: () => this.runs.keys(),
      send: (line) => this.#watchdog?.writable && this.#watchdog.write(`${line}\n`),
    });
  }

  /** Set once the process has exited by itself. */
  get exitCode(): number | null {
    return this.#child?.exitCode ?? null;
  }

  /** Whether it was ended by a signal that neither it nor this server has sent, as far as can be known. */
  get endedByOthers(): boolean {
    const signal = this.#child?.signalCode;
    return this.#killReason === undefined && signal != null && FROM_OUTSIDE.has(signal);
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Whether it may be given new work. */
  get usable(): boolean {
    return this.state === "ready" && !this.suspect;
  }

  /** Whether it has not answered for a while. */
  get suspect(): boolean {
    return this.state === "ready" && this.#silentFor > SUSPECT_MS;
  }

  get #silentFor(): number {
    if (this.#options.debugPort !== undefined) return 0;
    return this.#lastPing > this.#lastPong ? performance.now() - this.#lastPong : 0;
  }

  start(): void {
    const { project, launch, port, database, memoryMb, maxValueMb, silenceMs, debugPort, log, ownCodeApi } =
      this.#options;
    const child = spawn(launch.command, launch.args(memoryMb), {
      cwd: project.dir,
      stdio: ["ignore", "pipe", "pipe", "pipe", "pipe"],
      env: {
        ...hostEnvironment(project.env, process.env),
        ...launch.environment,
        PORT: String(port),
        HEDDLE_HOST_PROJECT: JSON.stringify(launch.project),
        ...(launch.usesDatabase && {
          HEDDLE_HOST_DATABASE: database.uri,
          HEDDLE_HOST_DATABASE_SOCKET: database.socket ?? "",
        }),
        HEDDLE_HOST_OWN_API: ownCodeApi.describe(project),
        HEDDLE_HOST_MAX_VALUE_MB: String(maxValueMb),
        HEDDLE_HOST_SILENCE_MS: String(debugPort === undefined ? silenceMs : LONGEST_PAUSE_MS),
        ...(debugPort !== undefined && { HEDDLE_HOST_DEBUG_PORT: String(debugPort) }),
      },
    });
    this.#child = child;
    child.on("error", (error) => this.#exited(`could not be started: ${error.message}`));
    child.on("exit", (code, signal) => this.#afterLastFrames(() => this.#exited(this.#describeExit(code, signal))));
    child.stdout!.on("data", (chunk: Buffer) => process.stdout.write(chunk));
    child.stderr!.on("data", (chunk: Buffer) => {
      if (this.state === "starting") this.#startErrors = (this.#startErrors + chunk.toString()).slice(0, 16_000);
      this.#stderrTail = (this.#stderrTail + chunk.toString()).slice(-4000);
      process.stderr.write(chunk);
    });

    this.#socket = child.stdio[3] as Socket;
    this.#watchdog = child.stdio[4] as Socket;
    const reader = new FrameReader<HostFrame>((frame, body) => this.#receive(frame, body));
    this.#socket.on("data", (chunk: Buffer) => {
      try {
        reader.push(chunk);
      } catch (error) {
        log.error({ err: error }, "a graph host broke the protocol");
        this.kill(`broke the protocol: ${coerceError(error).message}`);
      }
    });
    let partial = "";
    this.#watchdog.on("data", (chunk: Buffer) => {
      const lines = (partial + chunk.toString()).split("\n");
      partial = lines.pop()!;
      for (const line of lines) this.#blocked.receive(JSON.parse(line) as BlockingCode);
    });
    // the exit event covers socket errors
    for (const stream of [this.#socket, this.#watchdog]) stream.on("error", () => {});
  }

  startRun(start: RunStart, kwargs: string): void {
    this.runs.set(start.run_id, { attempt: start.attempt, threadId: start.thread_id });
    this.#send(start, kwargs);
  }

  cancelRun(runId: string, reason: string): void {
    this.#send({ t: "run.cancel", run_id: runId, reason });
  }

  holdEnd(runId: string): void {
    this.#send({ t: "run.hold", run_id: runId });
  }

  /**
   * Calls the host. Resolves with the raw JSON text of the result. Rejects with the host's error, or 503 when it dies
   * or takes too long.
   */
  call<M extends keyof HostCalls>(method: M, params: HostCalls[M]["params"], timeoutMs: number): Promise<HostText> {
    const id = this.#nextCall++;
    const done = deferred<HostText>();
    const timer = setTimeout(() => {
      this.#calls.delete(id);
      done.reject(unavailable(`The graph host did not answer ${method} within ${timeoutMs / 1000} s.`));
    }, timeoutMs);
    this.#calls.set(id, { method, done });
    this.#send({ t: "call", id, method }, JSON.stringify(params));
    return done.promise.finally(() => clearTimeout(timer));
  }

  sendTracesTo(to: TraceDestination): void {
    this.#send({ t: "trace.to", to });
  }

  /** Hands over the keys of stored state, to a host that writes it itself. */
  sendKeys(keys: DataKeys): void {
    if (this.#options.launch.usesDatabase) this.#send({ t: "state.keys", keys });
  }

  storeListsWhole(whole: boolean): void {
    this.#send({ t: "lists.whole", whole });
  }

  closeTrace(trace: LostTrace): void {
    this.#send({ t: "trace.close" }, JSON.stringify(trace));
  }

  /** Resolves when the traces of its runs are delivered, after `ms` at the latest. */
  flushTraces(ms: number): Promise<void> {
    if (this.state !== "ready" && this.state !== "draining") return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#flushed.push(() => {
        clearTimeout(timer);
        resolve();
      });
      this.#send({ t: "trace.flush", ms });
    });
  }

  /** Takes no new work, finishes its runs, exits. */
  drain(): void {
    if (this.state === "dead" || this.state === "draining") return;
    if (this.state === "starting") return this.kill(SUPERSEDED);
    this.state = "draining";
    this.#send({ t: "drain" });
  }

  /** Ends the process, after the lifespan that it runs. */
  close(reason: string): void {
    if (!this.#options.launch.hasLifespan || (this.state !== "ready" && this.state !== "draining"))
      return this.kill(reason);
    this.#killReason ??= reason;
    this.#send({ t: "close" });
    setTimeout(() => this.kill(reason), CLOSE_MS).unref();
  }

  kill(reason: string): void {
    this.#killReason ??= reason;
    this.#child?.kill("SIGKILL");
  }

  /** Handles a tick of the owner's timer: pings the host, feeds the watchdog, kills a host beyond its limits. */
  tick(): void {
    if (this.state === "dead") return;
    if (this.#watchdog?.writable && this.#watchdog.writableLength === 0) this.#watchdog.write("\n");
    if (this.state === "starting") {
      const { startMs } = this.#options;
      if (performance.now() - this.#startedAt > startMs) {
        this.isOverdue = true;
        this.kill(
          `was not ready after ${startMs / 1000} s. Check whether a module waits for something, or computes for long, ` +
            "while it is loaded, or in heddle.hosts.lifespan. HEDDLE_HOST_START_MS sets this limit",
        );
      }
      return;
    }
    const { launch, blockMs, memoryMb } = this.#options;
    const rss = residentBytes(this.pid) ?? this.rss;
    // close to the limit it is the garbage collector that blocks
    if (this.#silentFor > Math.min(blockMs, FULL_MS) && rss > memoryMb * 0.9 * 1024 * 1024) {
      this.kill(`exceeded its memory limit of ${memoryMb} MB and stopped responding`);
      return;
    }
    const reason = this.#blocked.check(this.#silentFor);
    if (reason !== undefined) {
      this.culprit = this.#blocked.runId;
      this.kill(reason);
      return;
    }
    if (this.#blocked.isRun) this.#returnCalls();
    if (rss > launch.mostMemoryMb(memoryMb) * 1024 * 1024) {
      this.kill(`exceeded its memory limit of ${memoryMb} MB`);
      return;
    }
    if (this.#lastPong >= this.#lastPing) {
      this.#lastPing = performance.now();
      this.#send({ t: "ping", n: Math.round(this.#lastPing) });
    }
  }

  /** Lets other hosts answer the calls that wait for a blocked event loop. */
  #returnCalls(): void {
    for (const [id, { method, done }] of this.#calls) {
      if (method === "state.update") continue;
      this.#calls.delete(id);
      done.reject(new LostCallError("The graph host is blocked."));
    }
  }

  /**
   * Stops a cancelled run that has not ended by itself because code blocks the event loop. The run's end is up to the
   * caller. Where that run's own code blocks and cannot be interrupted, its process is killed if it executes no other.
   */
  stopBlockedRun(runId: string): void {
    if (this.#blocked.interruptCancelled(runId)) return;
    if (this.runs.size === 0) this.kill("did not stop a cancelled run: something blocked its event loop");
  }

  /** Resets the silence after a pause of the server itself, when a host's silence proves nothing. */
  forgiveSilence(): void {
    this.#lastPong = performance.now();
    this.#lastPing = 0;
  }

  #send(frame: ServerFrame, body?: string | Buffer[]): void {
    if (this.#socket?.writable) this.#socket.write(encodeFrame(frame, body));
  }

  #receive(frame: HostFrame, body: Buffer): void {
    switch (frame.t) {
      case "ready":
        if (frame.protocol !== PROTOCOL_VERSION)
          return this.kill(`speaks protocol ${frame.protocol}, not ${PROTOCOL_VERSION}`);
        this.graphs = frame.graphs;
        this.langgraphVersion = frame.langgraph_version;
        if (this.state === "starting") this.state = "ready";
        this.forgiveSilence();
        return this.#events.onReady(this);
      case "loaded":
        for (const file of JSON.parse(body.toString()) as string[]) this.files.add(file);
        return;
      case "pong":
        this.rss = frame.rss;
        this.#lastPong = performance.now();
        return;
      case "event":
        if (this.runs.has(frame.run_id)) this.#events.onEvent(frame.run_id, frame.event, body);
        return;
      case "mark":
        if (this.runs.has(frame.run_id)) this.#events.onMark(frame.run_id, frame.checkpoint_id);
        return;
      case "run.resumed":
        if (this.runs.has(frame.run_id)) this.#events.onResumed(frame.run_id, frame.checkpoint_id);
        return;
      case "run.end":
        // an attempt superseded by the next one on this very host ends late
        if (this.runs.get(frame.run_id)?.attempt === frame.attempt) this.runs.delete(frame.run_id);
        return this.#events.onRunEnd(frame, body);
      case "result": {
        const call = this.#calls.get(frame.id);
        this.#calls.delete(frame.id);
        if (frame.error) call?.done.reject(new AppError(frame.error.status, frame.error.message));
        else call?.done.resolve(frame.shared ? new SharedJson(body) : body);
        return;
      }
      case "checkpoint.write":
      case "checkpoint.hurry":
      case "checkpoint.relax":
      case "checkpoint.read":
      case "checkpoint.history":
      case "checkpoint.change":
        if (!this.#checkpoints) throw new Error("a host with access to the database sent a checkpoint");
        return this.#checkpoints.receive(frame, body);
      case "store.call":
        return void this.#answerStore(frame.id, body);
      case "trace.flushed":
        return this.#flushed.shift()?.();
      case "fault":
        this.#killReason ??=
          this.state === "starting"
            ? `ended before it was ready: ${withoutLibraryFrames(frame.message)}`
            : `threw outside any run's promise: ${frame.message}`;
        return;
      default:
        throw new Error(`unknown frame "${(frame satisfies never as { t: string }).t}"`);
    }
  }

  async #answerStore(id: number, body: Buffer): Promise<void> {
    try {
      const results = await this.#events.onStoreCall(JSON.parse(body.toString()) as StoreOperation[]);
      this.#send({ t: "store.result", id }, JSON.stringify(results));
    } catch (thrown) {
      const error = coerceError(thrown);
      const status = thrown instanceof AppError ? thrown.status : 500;
      this.#send({ t: "store.result", id, error: { status, name: error.name, message: error.message } });
    }
  }

  /** Waits until the frames that an exited process sent before have been read. */
  #afterLastFrames(then: () => void): void {
    const socket = this.#socket;
    if (!socket || socket.closed) return then();
    const timer = setTimeout(then, LAST_FRAMES_MS);
    socket.once("close", () => {
      clearTimeout(timer);
      then();
    });
  }

  #describeExit(code: number | null, signal: NodeJS.Signals | null): string {
    if (this.#killReason) return this.#killReason;
    if (/heap out of memory|Reached heap limit/.test(this.#stderrTail)) {
      return `exceeded its memory limit of ${this.#options.memoryMb} MB`;
    }
    if (signal) return `was terminated by ${signal}`;
    if (code === 0 && this.state === "draining") return "drained";
    if (this.state !== "starting") return `exited with code ${code}`;
    return `exited with code ${code} before it was ready${describeCrash(this.#startErrors)}`;
  }

  #exited(reason: string): void {
    if (this.state === "dead") return;
    this.state = "dead";
    this.#socket?.destroy();
    this.#watchdog?.destroy();
    for (const { method, done } of this.#calls.values()) {
      done.reject(new LostCallError(`The graph host ${reason} during ${method}.`));
    }
    this.#calls.clear();
    for (const done of this.#flushed.splice(0)) done();
    this.#events.onExit(this, reason);
  }
}

/** A host that has ended, or is blocked, has not answered a call. */
export class LostCallError extends AppError {
  constructor(message: string) {
    super(503, message, { headers: { "Retry-After": "1" } });
  }
}

/** Returns the first error that a process printed, or else its first lines. */
function describeCrash(stderr: string): string {
  const lines = stderr.trim().split("\n");
  const at = lines.findIndex((line) => /^(?:Uncaught )?[\w.]*(?:Error|Exception)\b/.test(line));
  const printed = at < 0 ? lines : withoutLibraryFrames(lines.slice(at).join("\n")).split("\n");
  return stderr.trim() === "" ? "" : `: ${printed.slice(0, CRASH_LINES).join("\n")}`;
}

const CRASH_LINES = 8;

/** Removes the frames of Node, of packages and of the host itself from a stack. */
const withoutLibraryFrames = (stack: string): string =>
  stack
    .split("\n")
    .filter((line) => !/^\s+at .*(?:node:|\/node_modules\/|\/graph-host\/)/.test(line) && !line.startsWith("Node.js v"))
    .join("\n")
    .trimEnd();

/** Resident memory of a process, where /proc exists. */
function residentBytes(pid: number | undefined): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * 4096;
  } catch {
    return undefined;
  }
}
