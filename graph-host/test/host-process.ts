import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createRequire } from "node:module";
import { resolve as resolvePath } from "node:path";
import type { Duplex, Writable } from "node:stream";
import { fileURLToPath, pathToFileURL } from "node:url";
import {
  encodeFrame,
  FrameReader,
  type HostCalls,
  type HostFrame,
  type RunEnd,
  type RunKwargs,
  type RunResult,
  type ServerFrame,
  type WireError,
} from "../../host-kit/src/host-protocol.ts";
import { SharedJson } from "../../host-kit/src/shared-json.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- JSON off the wire, which tests look into
type Json = any;

/** Server side of the protocol, as far as tests need it, around a real host process. */
export class HostProcess {
  readonly child: ChildProcess;
  readonly stderr: string[] = [];
  /** Number of times that something arrived from the host. */
  reads = 0;
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  ready!: HostFrame & { t: "ready" };
  /** Called before each run is started, in place of the server's queue. */
  claim: ((run: RunHandle, attempt: number) => Promise<void>) | undefined;
  storeCall: (operations: unknown[]) => unknown[] | Error = () => new Error("no store in this test");
  #socket: Duplex;
  #listeners = new Set<(header: HostFrame, body: Buffer) => void>();
  #nextId = 1;
  #heart: NodeJS.Timeout;

  private constructor(child: ChildProcess) {
    this.child = child;
    this.exited = once(child, "exit").then(([code, signal]) => ({ code, signal }));
    child.stderr!.on("data", (data: Buffer) => this.stderr.push(data.toString()));
    this.#socket = child.stdio[3] as Duplex;
    this.#socket.on("error", () => {});
    const reader = new FrameReader<HostFrame>((header, body) => this.#receive(header, body));
    this.#socket.on("data", (chunk: Buffer) => {
      this.reads++;
      reader.push(chunk);
    });
    const heart = child.stdio[4] as Writable;
    heart.on("error", () => {});
    this.#heart = setInterval(() => heart.write("."), 1000);
  }

  /** Starts a host on a directory of `fixtures/` (or an absolute one) and waits until it is ready. */
  static async start(
    fixture: string,
    graphs: Record<string, string>,
    env: Record<string, string> = {},
  ): Promise<HostProcess> {
    const host = HostProcess.spawn(fixture, graphs, env);
    host.ready = (await host.frame((header) => header.t === "ready")).header as HostFrame & { t: "ready" };
    return host;
  }

  static spawn(fixture: string, graphs: Record<string, string>, env: Record<string, string> = {}): HostProcess {
    const dir = resolvePath(fileURLToPath(new URL("./fixtures", import.meta.url)), fixture);
    const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
    const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
    const paths = Object.fromEntries(Object.entries(graphs).map(([id, path]) => [id, { path }]));
    const preload = new URL("../preload.mjs", import.meta.url).href;
    const flags = [
      "--experimental-import-meta-resolve",
      "--disable-warning=DEP0205",
      "--import",
      preload,
      "--import",
      tsx,
    ];
    const child = spawn(process.execPath, [...flags, main], {
      cwd: dir,
      env: { ...process.env, HEDDLE_HOST_PROJECT: JSON.stringify({ dir, graphs: paths }), ...env },
      stdio: ["ignore", "inherit", "pipe", "pipe", "pipe"],
    });
    return new HostProcess(child);
  }

  /** Stops the watchdog's bytes, as if the server hung. */
  stopHeart(): void {
    clearInterval(this.#heart);
  }

  /** Ends the watchdog's stream, as when the server dies. */
  dropHeart(): void {
    clearInterval(this.#heart);
    (this.child.stdio[4] as Writable).destroy();
  }

  pauseReading(): void {
    this.#socket.pause();
  }

  resumeReading(): void {
    this.#socket.resume();
  }

  send(header: ServerFrame, body?: unknown): void {
    this.#socket.write(encodeFrame(header, body === undefined ? undefined : JSON.stringify(body)));
  }

  /** Resolves with the next frame that matches; rejects when the host exits before. */
  frame(matches: (header: HostFrame) => boolean): Promise<{ header: HostFrame; body: Buffer }> {
    return new Promise((resolve, reject) => {
      const listener = (header: HostFrame, body: Buffer) => {
        if (!matches(header)) return;
        this.#listeners.delete(listener);
        resolve({ header, body });
      };
      this.#listeners.add(listener);
      void this.exited.then((exit) =>
        reject(new Error(`host exited: ${JSON.stringify(exit)}\n${this.stderr.join("")}`)),
      );
    });
  }

  start(graphId: string, kwargs: Partial<RunKwargs> = {}, options: StartOptions = {}): RunHandle {
    const run = new RunHandle(options.runId ?? randomUUID(), options.threadId ?? randomUUID());
    this.#listeners.add(run.receive);
    void run.end.catch(() => {}).then(() => this.#listeners.delete(run.receive));
    void this.exited.then((exit) => run.hostGone(new Error(`host exited: ${JSON.stringify(exit)}`)));
    const { attempt = 1, freshThread = options.threadId === undefined } = options;
    const begin = () =>
      this.send(
        {
          t: "run.start",
          run_id: run.runId,
          thread_id: run.threadId,
          assistant_id: "a",
          graph_id: graphId,
          attempt,
          fresh_thread: freshThread,
          notify: false,
        },
        { config: {}, stream_mode: ["values"], subgraphs: false, resumable: false, temporary: false, ...kwargs },
      );
    if (this.claim) void this.claim(run, attempt).then(begin, run.hostGone);
    else begin();
    return run;
  }

  /** Starts a run and waits for its end. */
  async run(graphId: string, kwargs: Partial<RunKwargs> = {}, options: StartOptions = {}): Promise<RunHandle> {
    const run = this.start(graphId, kwargs, options);
    await run.end;
    return run;
  }

  cancel(run: RunHandle): void {
    this.send({ t: "run.cancel", run_id: run.runId, reason: "test" });
  }

  async call<M extends keyof HostCalls>(method: M, params: HostCalls[M]["params"]): Promise<HostCalls[M]["result"]> {
    const id = this.#nextId++;
    const answer = this.frame((header) => header.t === "result" && header.id === id);
    this.send({ t: "call", id, method }, params);
    const { header, body } = await answer;
    const { error, shared } = header as { error?: WireError; shared?: true };
    if (error) throw Object.assign(new Error(error.message), error);
    return JSON.parse((shared ? new SharedJson(body) : body).toString());
  }

  async stop(): Promise<void> {
    clearInterval(this.#heart);
    this.#socket.destroy();
    await this.exited;
  }

  #receive(header: HostFrame, body: Buffer): void {
    if (header.t === "store.call") {
      const results = this.storeCall(JSON.parse(body.toString()));
      if (results instanceof Error) {
        return this.send({
          t: "store.result",
          id: header.id,
          error: { status: 500, name: results.name, message: results.message },
        });
      }
      return this.send({ t: "store.result", id: header.id }, results);
    }
    for (const listener of this.#listeners) listener(header, body);
  }
}

interface StartOptions {
  runId?: string;
  threadId?: string;
  attempt?: number;
  freshThread?: boolean;
}

export class RunHandle {
  readonly runId: string;
  readonly threadId: string;
  readonly events: { event: string; data: Json }[] = [];
  readonly end: Promise<RunEnd>;
  outcome!: RunEnd;
  result!: RunResult & { values?: Json };
  #resolve!: (end: RunEnd) => void;
  hostGone!: (error: Error) => void;
  #watchers: (() => void)[] = [];

  constructor(runId: string, threadId: string) {
    this.runId = runId;
    this.threadId = threadId;
    this.end = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.hostGone = reject;
    });
    this.end.catch(() => {});
  }

  receive = (header: HostFrame, body: Buffer): void => {
    if (!("run_id" in header) || header.run_id !== this.runId) return;
    if (header.t === "event") {
      this.events.push({ event: header.event, data: JSON.parse(body.toString()) });
      for (const watcher of this.#watchers) watcher();
    } else if (header.t === "run.end") {
      this.outcome = header;
      this.result = JSON.parse(body.toString());
      this.#resolve(header);
    }
  };

  names(): string[] {
    return this.events.map(({ event }) => event);
  }

  data(name: string): Json[] {
    return this.events.filter(({ event }) => event === name).map(({ data }) => data);
  }

  /** Resolves at the first event that matches, including earlier ones. */
  seen(matches: (event: string, data: Json) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => this.events.some(({ event, data }) => matches(event, data)) && resolve();
      this.#watchers.push(look);
      look();
    });
  }
}
