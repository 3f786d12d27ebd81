import { setTimeout as sleep } from "node:timers/promises";

import { TraceApi } from "../../core/trace-api.ts";
import { describeFailure, messageIn, parseBaseUrl, RejectedError } from "../../core/reach.ts";

const LONGEST_WAIT_MS = 60_000;
const RETRIED = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Client of a server for copies: repeats requests while the server is overloaded or restarts. */
export class Server {
  readonly url: string;
  readonly #key: string | undefined;
  readonly #attempts: number;

  constructor(url: string, key: string | undefined, attempts = 8) {
    this.url = parseBaseUrl(url).replace(/\/api\/v1$/, "");
    this.#key = key;
    this.#attempts = attempts;
  }

  async send<T>(method: string, path: string, body?: object): Promise<T> {
    const text = await this.sendText(method, path, body && JSON.stringify(body));
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }

  /** Client of prompts. */
  traceApi(): TraceApi {
    return new TraceApi(this.url, this.#key);
  }

  /** @returns undefined when the server answers 404 */
  async find<T>(path: string): Promise<T | undefined> {
    try {
      return await this.send<T>("GET", path);
    } catch (error) {
      if (error instanceof RejectedError && error.status === 404) return undefined;
      throw error;
    }
  }

  async sendText(method: string, path: string, body?: string | FormData): Promise<string> {
    const headers = {
      Accept: "application/json",
      ...(typeof body === "string" && { "Content-Type": "application/json" }),
    };
    const response = await this.#request(this.url + path, { method, headers, ...(body !== undefined && { body }) });
    return response.toString("utf8");
  }

  /** Reads a file. The key is sent to this server only: links may lead to a bucket. */
  download(link: string): Promise<Buffer> {
    return this.#request(new URL(link, `${this.url}/`).href, { method: "GET" });
  }

  async #request(
    url: string,
    init: Omit<RequestInit, "headers"> & { headers?: Record<string, string> },
  ): Promise<Buffer> {
    const isOwn = url.startsWith(`${this.url}/`);
    const headers = { ...init.headers, ...(isOwn && this.#key !== undefined && { "x-api-key": this.#key }) };
    for (let attempt = 1; ; attempt++) {
      let waitMs = Math.min(2 ** attempt * 250, LONGEST_WAIT_MS) * (0.5 + Math.random() / 2);
      try {
        const response = await fetch(url, { ...init, headers });
        const bytes = Buffer.from(await response.arrayBuffer());
        if (response.ok) return bytes;
        const error = new RejectedError(
          response.status,
          `${init.method} ${new URL(url).pathname}: ${messageIn(bytes.toString())}`,
        );
        // 500 is also the answer of servers that do not have a part of the API
        const attempts = response.status === 500 ? Math.min(3, this.#attempts) : this.#attempts;
        if (!RETRIED.has(response.status) || attempt >= attempts) throw error;
        waitMs = retryAfterMs(response) ?? waitMs;
      } catch (error) {
        if (error instanceof RejectedError) throw error;
        if (attempt >= this.#attempts) {
          throw new Error(`${this.url} does not answer (${describeFailure(error)}). Repeat the command to continue.`, {
            cause: error,
          });
        }
      }
      await sleep(waitMs);
    }
  }
}

/** Reads `Retry-After`, in seconds or as a date. */
function retryAfterMs(response: Response): number | undefined {
  const value = response.headers.get("retry-after");
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), LONGEST_WAIT_MS);
}
