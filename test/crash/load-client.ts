import { setTimeout as sleep } from "node:timers/promises";

import { Pool } from "undici";

import type { Ledger } from "./ledger.ts";

/** Thrown when the server is unreachable or reports that it cannot serve now. */
export class Unavailable extends Error {
  override name = "Unavailable";
}

export interface Answer<T> {
  body: T;
}

/** Sends requests to a server that may die at any moment. */
export class LoadClient {
  readonly #pool: Pool;
  readonly #prefix: string;
  readonly #ledger: Ledger;

  /** `url` may have a path, as a deployment's does. */
  constructor(url: string, ledger: Ledger) {
    const { origin, pathname } = new URL(url);
    this.#prefix = pathname.replace(/\/$/, "");
    this.#pool = new Pool(origin, { connections: 64, headersTimeout: 60_000, bodyTimeout: 60_000 });
    this.#ledger = ledger;
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }

  /**
   * Returns the answer's JSON. `onAccepted` receives the run's id as soon as the head of the answer names it. Throws
   * `Unavailable` when there is no answer; any other failure is recorded as wrong, and thrown.
   */
  async request<T>(
    method: "GET" | "POST",
    path: string,
    body?: unknown,
    onAccepted?: (runId: string) => void,
  ): Promise<T> {
    const text = await this.text(method, path, body, onAccepted);
    const value = JSON.parse(text) as T & { __error__?: unknown };
    if (value !== null && typeof value === "object" && value.__error__ !== undefined) {
      this.#ledger.wrong.push(`${method} ${path} answered ${text.trim()}`);
    }
    return value;
  }

  async text(
    method: "GET" | "POST",
    path: string,
    body?: unknown,
    onAccepted?: (runId: string) => void,
  ): Promise<string> {
    let status = 0;
    let text: string;
    try {
      const response = await this.#pool.request({
        method,
        path: this.#prefix + path,
        headers: { "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      status = response.statusCode;
      const location = response.headers["content-location"];
      const runId = typeof location === "string" ? /\/runs\/([^/]+)$/.exec(location)?.[1] : undefined;
      if (status < 300 && runId) onAccepted?.(runId);
      text = await response.body.text();
    } catch (error) {
      const code = (error as { code?: string }).code ?? (error as Error).message;
      this.#ledger.countFailure(code);
      throw new Unavailable(`${method} ${path}: ${code}`);
    }
    if (status === 503) {
      this.#ledger.countFailure("503");
      throw new Unavailable(`${method} ${path}: 503 ${text}`);
    }
    if (status >= 300) {
      this.#ledger.wrong.push(`${method} ${path} answered ${status} ${text}`);
      throw new Error(`${method} ${path}: ${status} ${text}`);
    }
    return text;
  }

  /** Reads the complete events after `lastEventId` that arrive within `ms`, then closes the stream. */
  async part(path: string, lastEventId: string, ms: number): Promise<{ text: string; isOver: boolean }> {
    const left = new AbortController();
    const timer = setTimeout(() => left.abort(), ms);
    let text = "";
    try {
      const headers = { "last-event-id": lastEventId };
      const answer = { method: "GET", path: this.#prefix + path, headers } as const;
      const { statusCode, body } = await this.#pool.request({ ...answer, signal: left.signal });
      if (statusCode !== 200) {
        const failure = `GET ${path} answered ${statusCode} ${await body.text()}`;
        this.#ledger.wrong.push(failure);
        throw new Error(failure);
      }
      body.setEncoding("utf8");
      for await (const chunk of body) text += chunk as string;
      return { text, isOver: true };
    } catch (error) {
      if (!left.signal.aborted) throw error;
      return { text: text.slice(0, text.lastIndexOf("\n\n") + 2), isOver: false };
    } finally {
      clearTimeout(timer);
    }
  }

  /** Retries while the server is unavailable. Only for requests that may be repeated. */
  async patiently<T>(method: "GET" | "POST", path: string, body?: unknown, limitMs = 30_000): Promise<T> {
    const deadline = Date.now() + limitMs;
    for (;;) {
      try {
        return await this.request<T>(method, path, body);
      } catch (error) {
        if (!(error instanceof Unavailable) || Date.now() > deadline) throw error;
        await sleep(100);
      }
    }
  }

  /** Polls a run until its final status. */
  async untilFinal(threadId: string, runId: string, limitMs = 180_000): Promise<string> {
    const deadline = Date.now() + limitMs;
    for (;;) {
      const { status } = await this.patiently<{ status: string }>("GET", `/threads/${threadId}/runs/${runId}`);
      if (status !== "pending" && status !== "running") return status;
      if (Date.now() > deadline) throw new Error(`run ${runId} is still ${status} after ${limitMs} ms`);
      await sleep(50);
    }
  }
}
