/**
 * Client of a container engine's Docker-compatible API, limited to the calls that deployments need: a dozen of JSON and
 * tar over one socket. Tested with Podman 4.3 (API 1.41); differences of Docker are noted where they matter.
 */
import { Agent, type IncomingMessage, request as send } from "node:http";
import type { Readable } from "node:stream";

/** The engine rejected the call. */
export class EngineError extends Error {
  override name = "EngineError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The engine is unreachable, or the connection was lost. The outcome of the call is unknown. */
export class EngineUnreachableError extends Error {
  override name = "EngineUnreachableError";
}

export interface CallOptions {
  query?: Record<string, string> | undefined;
  /** JSON; streams and buffers are sent as tar archives. */
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** Milliseconds without a byte after which the engine counts as unreachable; 0: never. */
  idleMs?: number;
}

/** The newest version that we support; current engines support it among many others. */
const NEWEST: readonly [number, number] = [1, 44];
const IDLE_MS = 30_000;
const MAX_ANSWER = 32 * 1024 * 1024;

export class Engine {
  readonly address: string;
  readonly #target: { socketPath: string } | { host: string; port: number };
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: 4 });
  #version: string | undefined;

  /** `unix:///path` or `tcp://host:port`. Makes no call yet. */
  constructor(address: string) {
    this.address = address;
    if (address.startsWith("unix://")) this.#target = { socketPath: address.slice("unix://".length) };
    else if (address.startsWith("/")) this.#target = { socketPath: address };
    else {
      const url = new URL(address.replace(/^tcp:/, "http:"));
      this.#target = { host: url.hostname.replace(/^\[|\]$/g, ""), port: Number(url.port || 2375) };
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Returns the parsed response; undefined when empty. Throws EngineError, EngineUnreachableError. */
  async call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
    const response = await this.open(method, path, options);
    const text = await this.#read(response);
    return (text.trim() === "" ? undefined : JSON.parse(text)) as T;
  }

  /** Returns the streaming response of an accepted call. The caller must read it to its end, or destroy it. */
  async open(method: string, path: string, options: CallOptions = {}): Promise<IncomingMessage> {
    this.#version ??= await this.#negotiate();
    const response = await this.#send(method, `/v${this.#version}${path}`, options);
    if (response.statusCode! < 400) return response;
    const text = await this.#read(response);
    throw new EngineError(response.statusCode!, errorMessage(text) || `the engine answered ${response.statusCode}`);
  }

  async #negotiate(): Promise<string> {
    const response = await this.#send("GET", "/_ping", {});
    await this.#read(response);
    const apiVersion = String(response.headers["api-version"] ?? "").split(".");
    const engineVersion: [number, number] = [Number(apiVersion[0]), Number(apiVersion[1])];
    if (!engineVersion.every(Number.isInteger))
      throw this.#unreachable("the server at this address is not a container engine");
    const isNewer = engineVersion[0] > NEWEST[0] || (engineVersion[0] === NEWEST[0] && engineVersion[1] > NEWEST[1]);
    return (isNewer ? NEWEST : engineVersion).join(".");
  }

  #send(method: string, path: string, options: CallOptions): Promise<IncomingMessage> {
    const { query, body, headers = {}, signal, idleMs = IDLE_MS } = options;
    const search = query ? `?${new URLSearchParams(query).toString()}` : "";
    const isStream = isReadable(body);
    const text = body === undefined || isStream || Buffer.isBuffer(body) ? undefined : JSON.stringify(body);
    const type = text === undefined ? "application/x-tar" : "application/json";
    return new Promise((resolve, reject) => {
      const request = send({
        ...this.#target,
        method,
        path: path + search,
        agent: this.#agent,
        headers: { Host: "engine", ...(body !== undefined && { "Content-Type": type }), ...headers },
        ...(signal && { signal }),
      });
      request.on("response", (response) => {
        response.on("error", () => {});
        resolve(response);
      });
      if (idleMs > 0)
        request.setTimeout(idleMs, () => request.destroy(new Error(`nothing received for ${idleMs / 1000} s`)));
      request.on("error", (error) => {
        if (isStream) body.destroy();
        reject(signal?.aborted ? (signal.reason as Error) : this.#unreachable(error.message, error));
      });
      if (isStream) {
        body.on("error", (error) => request.destroy(error));
        body.pipe(request);
      } else request.end(text ?? body);
    });
  }

  async #read(response: IncomingMessage): Promise<string> {
    const chunks: Buffer[] = [];
    let size = 0;
    try {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > MAX_ANSWER) throw new Error("the response is too long");
        chunks.push(chunk);
      }
    } catch (error) {
      throw this.#unreachable((error as Error).message, error);
    }
    return Buffer.concat(chunks).toString("utf8");
  }

  #unreachable(reason: string, cause?: unknown): EngineUnreachableError {
    return new EngineUnreachableError(`The container engine at ${this.address} does not answer: ${reason}`, { cause });
  }
}

const isReadable = (body: unknown): body is Readable => typeof (body as Readable | undefined)?.pipe === "function";

function errorMessage(text: string): string {
  try {
    return (JSON.parse(text) as { message?: string }).message ?? "";
  } catch {
    return text.slice(0, 1000);
  }
}

export interface ProgressLine {
  status?: string;
  /** Output of a build. */
  stream?: string;
  id?: string;
  /** Result of a push. */
  aux?: { Digest?: string };
}

/**
 * Reads the JSON lines that the engine sends during a long operation: progress, and possibly a final error. Only that
 * line indicates failure, because the status was sent before.
 */
export async function readProgress(body: AsyncIterable<Buffer>, onLine: (line: ProgressLine) => void): Promise<void> {
  let rest = "";
  let failure: string | undefined;
  const take = (text: string) => {
    if (text.trim() === "") return;
    let line: ProgressLine & { error?: string; errorDetail?: { message?: string } };
    try {
      line = JSON.parse(text) as typeof line;
    } catch {
      return;
    }
    if (line.error !== undefined || line.errorDetail !== undefined) {
      failure ??= line.errorDetail?.message ?? line.error ?? "the engine gave no reason";
    } else onLine(line);
  };
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop()!.slice(0, 1024 * 1024);
    for (const line of lines) take(line);
  }
  take(rest);
  if (failure !== undefined) throw new EngineError(500, failure);
}
