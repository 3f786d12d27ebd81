import { Pool } from "undici";

import type { ServerUnderTest } from "../servers.ts";
import type { SeededSpan, Totals } from "./spans.ts";

export const QUESTIONS = {
  run: "a run by its id",
  trace: "a trace of 20, whole",
  roots: "newest 100 roots",
  errors: "newest 100 errors",
  totals: "totals: count, p50, p99, tokens",
  since: "the same, since a time not asked before",
  attribute: "100 by an attribute",
  common: "100 by a word",
  rare: "a word with few hits",
  absent: "a word without a hit",
} as const;
export type QuestionId = keyof typeof QUESTIONS;

/** What a question is about, different from sample to sample where it can be. */
export interface Wanted {
  trace: SeededSpan[];
  span: SeededSpan;
  region: string;
  /** Milliseconds since 1970, before the start of `trace`. */
  since: number;
  word: string;
}

/** What was found: ids of spans or of traces, or the totals. */
export interface Found {
  spans?: string[];
  /** For a server whose searches return traces. */
  traces?: string[];
  totals?: Partial<Totals>;
}

/** A way to ask: sends requests, and reads the answers' texts afterwards, outside of the measured time. */
export interface Way {
  /** Distinguishes it from other ways of the same question. */
  name?: string;
  /** Said beside the table if it differs from the question. */
  note?: string;
  requests: (wanted: Wanted) => Request[];
  read: (answers: unknown[], wanted: Wanted) => Found;
}

export interface Request {
  path: string;
  body?: object;
}

export interface Side {
  name: string;
  version: string;
  server: ServerUnderTest;
  client: PeerClient;
  /** Directory of its data alone. */
  data: string;
  /** Its OTLP endpoint. */
  otlp: { path: string; headers: Record<string, string> };
  /** Number of spans that can be queried. */
  stored(): Promise<number>;
  /** Ways to ask each question, of which the fastest is measured. */
  ways: Record<QuestionId, Way[]>;
}

const PATIENCE_MS = 300_000;

/** Client with one connection for questions asked one after another. */
export class PeerClient {
  readonly #pool: Pool;
  readonly #headers: Record<string, string>;

  constructor(url: string, headers: Record<string, string> = {}) {
    this.#pool = new Pool(url, {
      connections: 8,
      headersTimeout: PATIENCE_MS,
      bodyTimeout: PATIENCE_MS,
    });
    this.#headers = headers;
  }

  /** @throws for an answer above 299 */
  async ask<T = unknown>(path: string, body?: object): Promise<T> {
    const { status, text } = await this.send(path, body && JSON.stringify(body), {
      "content-type": "application/json",
    });
    if (status >= 300) throw new Error(`${path.slice(0, 80)}: ${status} ${text.slice(0, 500)}`);
    return JSON.parse(text) as T;
  }

  async send(
    path: string,
    body: string | Buffer | undefined,
    headers: Record<string, string>,
  ): Promise<{ status: number; text: string }> {
    const response = await this.#pool.request({
      path,
      method: body === undefined ? "GET" : "POST",
      headers: { ...this.#headers, ...headers },
      ...(body !== undefined && { body }),
    });
    return { status: response.statusCode, text: await response.body.text() };
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}
