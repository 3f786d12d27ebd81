import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";

import { encodeFrame, FrameReader } from "../../../../host-kit/src/host-protocol.ts";
import { deferred, type Deferred } from "../../base/deferred.ts";
import { unavailable } from "../../base/errors.ts";
import type { CodeFrame, ServerCodeFrame } from "./code-frames.ts";

/** Limit for code that never finishes loading, so that the start fails with a message. */
const LOAD_LIMIT_MS = 60_000;
/** Longest time that a replaced process has for its last requests. */
const DRAIN_MS = 30_000;

export interface CodeLaunch {
  command: string;
  cwd: string;
  env: Record<string, string | undefined>;
}

export type CodeReady = Extract<CodeFrame, { t: "ready" }>;

/** Receives the frames of one request. */
export interface Conversation {
  onFrame(frame: CodeFrame, body: Buffer): void;
  onLost(error: Error): void;
}

/** Error of the project's code, with the status that it chose for the caller. */
class CodeRejection extends Error {
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(message: string, status: number, headers: Record<string, string>) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** One process that runs a project's own Python code: see heddle_host/project_code. */
export class CodeProcess {
  readonly #child: ChildProcess;
  readonly #socket: Socket;
  readonly #conversations = new Map<number, Conversation>();
  readonly #ready = deferred<CodeReady>();
  readonly #ended = deferred<void>();
  #nextId = 1;
  #dead = false;

  constructor({ command, cwd, env }: CodeLaunch) {
    this.#child = spawn(command, ["-X", "faulthandler", "-m", "heddle_host.project_code"], {
      cwd,
      env,
      stdio: ["ignore", "inherit", "inherit", "pipe"],
    });
    this.#socket = this.#child.stdio[3] as Socket;
    const reader = new FrameReader<CodeFrame>((frame, body) => this.#receive(frame, body));
    this.#socket.on("data", (chunk: Buffer) => {
      try {
        reader.push(chunk);
      } catch (error) {
        this.#end(`broke the protocol: ${(error as Error).message}`);
        this.kill();
      }
    });
    this.#socket.on("error", () => {});
    this.#child.on("error", (error) => this.#end(`could not be started: ${error.message}`));
    this.#child.on("exit", (code, signal) => this.#end(signal ? `was ended by ${signal}` : `exited with code ${code}`));
  }

  /** Resolves when the process has exited. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  get dead(): boolean {
    return this.#dead;
  }

  /** Resolves when the code is loaded. Rejects with the reason why it is not. */
  async load(): Promise<CodeReady> {
    const timer = setTimeout(() => {
      this.#ready.reject(
        new Error(
          `The project's Python code was still loading after ${LOAD_LIMIT_MS / 1000} s. Check whether a module waits ` +
            "for something while it is loaded.",
        ),
      );
      this.kill();
    }, LOAD_LIMIT_MS);
    return this.#ready.promise.finally(() => clearTimeout(timer));
  }

  /** Calls a function of the project. Resolves with the JSON text of its result. */
  call(frame: (id: number) => ServerCodeFrame, body: Buffer | string): Promise<Buffer> {
    const done: Deferred<Buffer> = deferred();
    const id = this.open({
      onFrame(answer, text) {
        if (answer.t !== "result") return;
        const { error } = answer;
        if (error === undefined) done.resolve(text);
        else if (error.status === null) done.reject(new Error(error.message));
        else done.reject(new CodeRejection(error.message, error.status, error.headers));
      },
      onLost: (error) => done.reject(error),
    });
    this.send(frame(id), body);
    return done.promise.finally(() => this.close(id));
  }

  /** Registers a conversation under a new id. */
  open(conversation: Conversation): number {
    const id = this.#nextId++;
    this.#conversations.set(id, conversation);
    return id;
  }

  close(id: number): void {
    this.#conversations.delete(id);
  }

  send(frame: ServerCodeFrame, body: Buffer | string = ""): void {
    if (this.#socket.writable) this.#socket.write(encodeFrame(frame as never, body));
  }

  /** Finishes its requests and the app's shutdown, then exits. */
  drain(): void {
    this.send({ t: "drain" });
    const timer = setTimeout(() => this.kill(), DRAIN_MS);
    void this.ended.finally(() => clearTimeout(timer));
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  #receive(frame: CodeFrame, body: Buffer): void {
    if (frame.t === "ready") return this.#ready.resolve(frame);
    if (frame.t === "failed") return this.#ready.reject(new Error(frame.message));
    this.#conversations.get(frame.id)?.onFrame(frame, body);
  }

  #end(how: string): void {
    if (this.#dead) return;
    this.#dead = true;
    this.#socket.destroy();
    const error = unavailable(`The process of the project's Python code ${how}. It is started again.`, 1);
    this.#ready.reject(new Error(`The process of the project's Python code ${how} before it had loaded.`));
    for (const conversation of [...this.#conversations.values()]) conversation.onLost(error);
    this.#conversations.clear();
    this.#ended.resolve();
  }
}
