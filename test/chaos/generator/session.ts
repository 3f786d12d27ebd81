import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { Client } from "langgraph-sdk-v1";

import { randomFrom } from "../../crash/kills.ts";
import type { Operation, OperationName } from "../check/world.ts";
import type { History } from "../history.ts";
import { now } from "../now.ts";

export type Reachable = "api" | "worker1";
const REACHABLE: Reachable[] = ["api", "worker1"];

const REQUEST_MS = 15_000;
/** Longer than any storm: a server that has not answered by then never will. */
const GIVE_UP_MS = 300_000;
/** Timeout of a stream or a wait. */
export const LONG_MS = 60_000;

export interface SessionOptions {
  history: History;
  url(server: Reachable): string;
  seed: number;
  webhookUrl: string;
}

/** State shared by all scenarios: clients of both servers, the random source, and the history of all operations. */
export class Session {
  readonly history: History;
  readonly webhookUrl: string;
  readonly random: () => number;
  readonly #url: (server: Reachable) => string;
  isStopping = false;

  constructor({ history, url, seed, webhookUrl }: SessionOptions) {
    this.history = history;
    this.webhookUrl = webhookUrl;
    this.random = randomFrom(seed);
    this.#url = url;
  }

  /** Creates a client without retries, so that the history records each request separately. */
  client(server: Reachable, headers: Record<string, string> = {}): Client {
    return new Client({
      apiUrl: this.#url(server),
      apiKey: null,
      timeoutMs: REQUEST_MS,
      defaultHeaders: headers,
      callerOptions: { maxRetries: 0, maxConcurrency: 1000 },
    });
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.random() * items.length)]!;
  }

  between(low: number, high: number): number {
    return Math.floor(low + this.random() * (high - low + 1));
  }

  server = (): Reachable => this.pick(REACHABLE);
  chance = (share: number): boolean => this.random() < share;
  pause = (low: number, high: number): Promise<void> => sleep(this.between(low, high));
  token = (): string => randomUUID().slice(0, 13);

  /**
   * Sends one request and records its outcome: `fail` when the server rejected it, `unknown` when there was no answer or
   * one that promises nothing (5xx). The result is undefined then.
   */
  async operation<T>(
    name: OperationName,
    about: Partial<Operation>,
    work: (client: Client, operation: Operation) => Promise<T>,
    headers: Record<string, string> = {},
  ): Promise<{ operation: Operation; result?: T }> {
    const server = (about.server as Reachable | undefined) ?? this.server();
    const operation = this.history.invoke(name, { ...about, server });
    try {
      const result = await work(this.client(server, headers), operation);
      this.history.complete(operation, { outcome: "ok" });
      return { operation, result };
    } catch (error) {
      const { status } = error as { status?: number };
      const isRejected = status !== undefined && status >= 400 && status < 500;
      const message = (error as Error).message.slice(0, 300);
      this.history.complete(operation, {
        outcome: isRejected ? "fail" : "unknown",
        error: message,
        ...(status !== undefined && { status }),
      });
      if (!isRejected) await sleep(200);
      return { operation };
    }
  }

  /**
   * Repeats a request until its outcome is known, also while the session stops: otherwise the run would never settle.
   */
  async untilKnown(
    name: OperationName,
    about: Partial<Operation>,
    work: (client: Client, operation: Operation) => Promise<unknown>,
  ): Promise<void> {
    for (const giveUpAt = now() + GIVE_UP_MS; now() < giveUpAt; await sleep(300)) {
      const { operation } = await this.operation(name, about, work);
      if (operation.outcome !== "unknown") return;
    }
  }

  /** Sends a request that the official client does not have, to the server of the operation. */
  async post<T>({ server }: Operation, path: string, body: object): Promise<T> {
    const response = await fetch(this.#url(server as Reachable) + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(REQUEST_MS),
    });
    const text = await response.text();
    if (!response.ok) throw Object.assign(new Error(`HTTP ${response.status}: ${text}`), { status: response.status });
    return JSON.parse(text) as T;
  }

  /** Records that the server has acknowledged the run. */
  accept(operation: Operation, run: string): void {
    operation.run = run;
    operation.accepted ??= now();
  }

  async createThread(): Promise<string | undefined> {
    const thread = randomUUID();
    const { result } = await this.operation("thread.create", { thread }, (client) =>
      client.threads.create({ threadId: thread }),
    );
    return result && thread;
  }

  /** Repeats a read until it is answered, or the session stops. */
  async read<T>(work: (client: Client) => Promise<T>): Promise<T | undefined> {
    while (!this.isStopping) {
      try {
        return await work(this.client(this.server()));
      } catch (error) {
        if ((error as { status?: number }).status === 404) return undefined;
        await sleep(300);
      }
    }
    return undefined;
  }
}
