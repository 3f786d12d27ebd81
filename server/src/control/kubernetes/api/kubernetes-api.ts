/** Calls to a Kubernetes API server: a dozen requests, so a client library would be mostly unused. */
import { Agent as PlainAgent, type IncomingMessage, request as requestPlain } from "node:http";
import { Agent, request, type RequestOptions } from "node:https";
import { text } from "node:stream/consumers";

import type { ClusterAccess } from "./kubeconfig.ts";

/** Idle time after which a call fails. */
const CALL_MS = 10_000;

/** Rejection of a call by the API server. */
export class KubernetesError extends Error {
  override name = "KubernetesError";
  readonly status: number;
  /** Reason in the API server's response: `NotFound`, `Conflict`, `Forbidden`, … */
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

/** The API server did not respond, or could not process the call. */
export class KubernetesUnreachableError extends Error {
  override name = "KubernetesUnreachableError";
}

export interface CallOptions {
  query?: Record<string, string>;
  body?: unknown;
  contentType?: string;
  signal?: AbortSignal;
}

export const isMissing = (error: unknown): boolean => error instanceof KubernetesError && error.status === 404;
export const isConflict = (error: unknown): boolean => error instanceof KubernetesError && error.status === 409;

export class KubernetesApi {
  readonly #access: ClusterAccess;
  readonly #agent: Agent | PlainAgent;

  constructor(access: ClusterAccess) {
    this.#access = access;
    const options = { keepAlive: true, maxFreeSockets: 16 };
    this.#agent = access.server.protocol === "http:" ? new PlainAgent(options) : new Agent(options);
  }

  /** Sends a request and returns the response as JSON. Throws KubernetesError or KubernetesUnreachableError. */
  async call<T = unknown>(method: string, path: string, options: CallOptions = {}): Promise<T> {
    const response = await this.open(method, path, options);
    try {
      return JSON.parse(await text(response)) as T;
    } catch (error) {
      throw new KubernetesUnreachableError(`the API server's response is incomplete: ${(error as Error).message}`);
    }
  }

  /** Sends a request and returns the successful response. Its body has no idle timeout. */
  async open(method: string, path: string, options: CallOptions = {}): Promise<IncomingMessage> {
    const response = await this.#send(method, path, options);
    if (response.statusCode! < 300) {
      response.setTimeout?.(0);
      response.socket.setTimeout(0);
      return response;
    }
    const body = await text(response).catch(() => "");
    const { reason = "Unknown", message = body.slice(0, 500) } = readStatus(body);
    // 429 and 5xx: overloaded or starting, so the state of the cluster is unknown
    if (response.statusCode === 429 || response.statusCode! >= 500) {
      throw new KubernetesUnreachableError(`the API server answered ${response.statusCode}: ${message}`);
    }
    throw new KubernetesError(response.statusCode!, reason, message);
  }

  async #send(
    method: string,
    path: string,
    { query, body, contentType, signal }: CallOptions,
  ): Promise<IncomingMessage> {
    const { server, ca, serverName, insecure } = this.#access;
    const { token, cert, key } = await this.#access.credentials();
    const search = query ? `?${new URLSearchParams(query)}` : "";
    const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const options: RequestOptions = {
      method,
      agent: this.#agent,
      timeout: CALL_MS,
      headers: {
        accept: "application/json",
        "user-agent": "heddle",
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(payload && { "content-type": contentType ?? "application/json", "content-length": payload.length }),
      },
      ...(ca && { ca }),
      ...(cert && { cert }),
      ...(key && { key }),
      ...(serverName !== null && { servername: serverName }),
      ...(insecure && { rejectUnauthorized: false }),
      ...(signal && { signal }),
    };
    const url = new URL(server.pathname.replace(/\/$/, "") + path + search, server);
    return new Promise((resolve, reject) => {
      const sent = (url.protocol === "http:" ? requestPlain : request)(url, options, resolve);
      sent.on("timeout", () => sent.destroy(new Error(`no response within ${CALL_MS / 1000} s`)));
      sent.on("error", (error) => {
        if (signal?.aborted) reject(error);
        else
          reject(new KubernetesUnreachableError(`the API server does not respond: ${error.message}`, { cause: error }));
      });
      sent.end(payload);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function readStatus(body: string): { reason?: string; message?: string } {
  try {
    const { reason, message } = JSON.parse(body) as { reason?: string; message?: string };
    return { ...(reason !== undefined && { reason }), ...(message !== undefined && { message }) };
  } catch {
    return {};
  }
}
