/**
 * Sends traces of every kind that clients send, and verifies that each acknowledged one is stored exactly once, with
 * its complete content. A request without a response is repeated with the same ids, as clients do.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { Client } from "langsmith";

const PROJECT = "kills";
const OTEL_PROJECT = "kills otel";
const TEXT = "x".repeat(1500);
/** Tokens of each run. A run whose piece is counted twice reports twice as many. */
const TOKENS = { input_tokens: 3, output_tokens: 4, total_tokens: 7 };

type Kind = "batch" | "multipart" | "client" | "spans";

interface Sent {
  kind: Kind;
  /** Id of the run; for a span, its unique name. */
  id: string;
  /** Tokens of the run and its descendants. */
  tokens?: number;
  attachment?: string;
  feedbackId?: string;
}

interface FoundRun {
  id: string;
  name: string;
  inputs: { text?: string } | null;
  outputs: { done?: string } | null;
  end_time: string | null;
  total_tokens: number;
}

export class TraceLoad {
  readonly acknowledged: Sent[] = [];
  /** Number of requests that were repeated, because they had no response or a retryable one. */
  repeated = 0;
  readonly #url: string;
  #workers: Promise<void>[] = [];
  #stopping = false;
  #failure: Error | undefined;

  constructor(url: string) {
    this.#url = url;
  }

  start(): void {
    const scenarios = [this.#batch, this.#multipart, this.#client, this.#spans];
    // several of each, so that a kill meets inserts of many requests
    this.#workers = [...scenarios, ...scenarios, ...scenarios].map((scenario) => this.#repeat(scenario.bind(this)));
  }

  /** Resolves when all requests in progress are acknowledged; the server must be running. @throws if one is rejected */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#workers);
    if (this.#failure) throw this.#failure;
  }

  /** Lists acknowledged traces that are missing, incomplete or duplicated. */
  async verify(): Promise<string[]> {
    const breaches = await this.#verifyRuns(this.acknowledged.filter(({ kind }) => kind !== "spans"));
    breaches.push(...(await this.#verifySpans(this.acknowledged.filter(({ kind }) => kind === "spans"))));
    const withFiles = this.acknowledged.filter(({ attachment }) => attachment !== undefined);
    for (let at = 0; at < withFiles.length; at += 50) {
      breaches.push(...(await this.#verifyFiles(withFiles.slice(at, at + 50))));
    }
    return breaches;
  }

  async #repeat(scenario: () => Promise<void>): Promise<void> {
    while (!this.#stopping && !this.#failure) {
      await scenario().catch((error: Error) => (this.#failure ??= error));
    }
  }

  /** Creates runs, and updates them in a later request. */
  async #batch(): Promise<void> {
    const ids = Array.from({ length: 5 }, () => randomUUID());
    await this.#send("/runs/batch", () => json({ post: ids.map((id) => newRun(id)) }));
    await this.#send("/runs/batch", () => json({ patch: ids.map((id) => ({ ...endOf(id), ...outputsOf(id) })) }));
    for (const id of ids) this.acknowledged.push({ kind: "batch", id });
  }

  /** Sends a complete run with an attachment and feedback. */
  async #multipart(): Promise<void> {
    const id = randomUUID();
    const feedbackId = randomUUID();
    const attachment = `file of ${id}`;
    const { inputs, ...run } = { ...newRun(id), ...endOf(id) };
    const body = () => {
      const form = new FormData();
      const add = (name: string, content: object) =>
        form.append(name, new Blob([JSON.stringify(content)], { type: "application/json" }));
      add(`post.${id}`, run);
      add(`post.${id}.inputs`, inputs);
      add(`post.${id}.outputs`, outputsOf(id).outputs);
      form.append(`attachment.${id}.note`, new Blob([attachment], { type: "text/plain" }));
      add(`feedback.${id}`, { id: feedbackId, run_id: id, trace_id: id, key: "kills", score: 1 });
      return { body: form };
    };
    await this.#send("/runs/multipart", body);
    this.acknowledged.push({ kind: "multipart", id, attachment, feedbackId });
  }

  /** Sends runs with the official client. It does not report failures, so its `fetch` repeats each request. */
  async #client(): Promise<void> {
    const ids = Array.from({ length: 5 }, () => randomUUID());
    const fetchImplementation = (url: string | URL | Request, init: RequestInit = {}) => this.#fetch(url, init);
    const client = new Client({ apiUrl: this.#url, apiKey: "any", fetchImplementation });
    for (const id of ids) {
      await client.createRun({ ...newRun(id), project_name: PROJECT });
      await client.updateRun(id, { ...endOf(id), ...outputsOf(id) });
    }
    await client.awaitPendingTraceBatches();
    for (const id of ids) this.acknowledged.push({ kind: "client", id });
  }

  async #spans(): Promise<void> {
    const traceId = randomUUID().replaceAll("-", "");
    const names = Array.from({ length: 5 }, () => `span ${randomUUID()}`);
    const now = BigInt(Date.now()) * 1_000_000n;
    const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
    const number = (key: string, intValue: number) => ({ key, value: { intValue } });
    const root = randomUUID().replaceAll("-", "").slice(0, 16);
    const spans = names.map((name, n) => ({
      traceId,
      spanId: n === 0 ? root : randomUUID().replaceAll("-", "").slice(0, 16),
      ...(n > 0 && { parentSpanId: root }),
      name,
      kind: 3,
      startTimeUnixNano: String(now + BigInt(n)),
      endTimeUnixNano: String(now + 1_000_000n),
      attributes: [
        text("gen_ai.operation.name", "chat"),
        text("gen_ai.request.model", "test-model"),
        text("input.value", JSON.stringify({ text: TEXT })),
        text("output.value", JSON.stringify({ done: name })),
        number("gen_ai.usage.input_tokens", TOKENS.input_tokens),
        number("gen_ai.usage.output_tokens", TOKENS.output_tokens),
      ],
    }));
    const body = { resourceSpans: [{ scopeSpans: [{ scope: { name: "kills" }, spans }] }] };
    await this.#send("/otel/v1/traces", () => json(body, { "langsmith-project": OTEL_PROJECT }));
    for (const id of names) {
      const tokens = id === names[0] ? names.length * TOKENS.total_tokens : TOKENS.total_tokens;
      this.acknowledged.push({ kind: "spans", id, tokens });
    }
  }

  /** Repeats a request until it is accepted. @throws when it is rejected */
  async #send(path: string, request: () => RequestInit): Promise<void> {
    const answer = await this.#fetch(this.#url + path, { method: "POST", ...request() });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  }

  /** Repeats a request until its response is not retryable. */
  async #fetch(url: string | URL | Request, { body, ...init }: RequestInit): Promise<Response> {
    // a form gets its boundary once, and a stream can be read once
    const whole = new Request(url, { ...init, ...(body != null && { body, duplex: "half" }) } as RequestInit);
    const content = body == null ? undefined : await whole.arrayBuffer();
    for (;;) {
      const request: RequestInit = { method: whole.method, headers: whole.headers, ...(content && { body: content }) };
      const answer = await fetch(whole.url, request).catch(() => undefined);
      if (answer && answer.status !== 429 && answer.status < 500) {
        // an incomplete response counts as no response
        const text = await answer.text().catch(() => undefined);
        if (text !== undefined) return new Response(text, { status: answer.status, headers: answer.headers });
      }
      this.repeated++;
      await sleep(100);
    }
  }

  async #verifyRuns(sent: Sent[]): Promise<string[]> {
    const breaches: string[] = [];
    for (let at = 0; at < sent.length; at += 100) {
      const part = sent.slice(at, at + 100);
      const { runs } = await this.#page({ id: part.map(({ id }) => id), limit: 100 });
      const found = groupBy(runs, ({ id }) => id);
      for (const { id, kind } of part) breaches.push(...checkRun(`${kind} ${id}`, id, found.get(id) ?? []));
    }
    return breaches;
  }

  /** Spans are found by their names: the ids of their runs are the platform's. */
  async #verifySpans(sent: Sent[]): Promise<string[]> {
    const breaches: string[] = [];
    if (sent.length === 0) return [];
    const projects = await this.#get<{ id: string }[]>(`/sessions?name=${encodeURIComponent(OTEL_PROJECT)}`);
    const runs: FoundRun[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await this.#page({ session: [projects[0]!.id], limit: 100, cursor });
      runs.push(...page.runs);
      cursor = page.cursors.next ?? undefined;
      if (!cursor) break;
    }
    const found = groupBy(runs, ({ name }) => name);
    for (const { id, tokens } of sent) breaches.push(...checkRun(id, id, found.get(id) ?? [], tokens));
    return breaches;
  }

  async #verifyFiles(sent: Sent[]): Promise<string[]> {
    const breaches: string[] = [];
    const query = sent.map(({ id }) => `run=${id}`).join("&");
    const feedback = await this.#get<{ id: string; run_id: string }[]>(`/feedback?limit=100&${query}`);
    for (const { id, attachment, feedbackId } of sent) {
      const own = feedback.filter(({ run_id }) => run_id === id);
      if (own.length !== 1 || own[0]!.id !== feedbackId) breaches.push(`feedback of ${id}: ${own.length}`);
      const run = await this.#get<{ s3_urls: Record<string, { presigned_url: string }> | null }>(`/runs/${id}`);
      const url = run.s3_urls?.["attachment.note"]?.presigned_url;
      const content = url && (await (await fetch(new URL(url, this.#url))).text());
      if (content !== attachment) breaches.push(`attachment of ${id}: ${content}`);
    }
    return breaches;
  }

  async #page(body: object): Promise<{ runs: FoundRun[]; cursors: { next: string | null } }> {
    const select = ["id", "name", "inputs", "outputs", "end_time", "total_tokens"];
    const response = await fetch(`${this.#url}/runs/query`, { method: "POST", ...json({ ...body, select }) });
    if (!response.ok) throw new Error(`/runs/query: ${response.status} ${await response.text()}`);
    return (await response.json()) as { runs: FoundRun[]; cursors: { next: string | null } };
  }

  async #get<T>(path: string): Promise<T> {
    const response = await fetch(this.#url + path);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }
}

const json = (body: object, headers: Record<string, string> = {}): RequestInit => ({
  body: JSON.stringify(body),
  headers: { "content-type": "application/json", ...headers },
});

function newRun(id: string) {
  const start = new Date();
  const order = start.toISOString().replace(/[-:.]/g, "").replace("Z", "000Z");
  return {
    id,
    name: "killed",
    run_type: "llm" as const,
    trace_id: id,
    start_time: start.toISOString(),
    dotted_order: order + id,
    session_name: PROJECT,
    inputs: { text: TEXT },
  };
}

/** Returns the end of a run, with the ids that an update in a batch requires. */
const endOf = (id: string) => ({ id, trace_id: id, end_time: new Date().toISOString() });

const outputsOf = (id: string) => ({ outputs: { done: id, usage_metadata: TOKENS } });

function checkRun(what: string, done: string, found: FoundRun[], tokens = TOKENS.total_tokens): string[] {
  const [run] = found;
  if (!run) return [`${what} is missing`];
  if (found.length > 1) return [`${what} is there ${found.length} times`];
  const problems: string[] = [];
  if (run.inputs?.text !== TEXT) problems.push(`${what} lacks its inputs`);
  if (run.outputs?.done !== done) problems.push(`${what} lacks its outputs`);
  if (!run.end_time) problems.push(`${what} has no end`);
  if (run.total_tokens !== tokens) problems.push(`${what} has ${run.total_tokens} tokens`);
  return problems;
}

function groupBy<T>(items: T[], key: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return groups;
}
