/** Reads what an agent server stores: assistants with their versions, threads with their history, crons, items. */
import { type Batch, type CopyRecord, type Positions, record, type Source } from "./copy.ts";
import type { Server } from "./server.ts";
import { type Checkpoint, lineage } from "./supersteps.ts";
import { RejectedError } from "../../core/reach.ts";

export interface Assistant {
  assistant_id: string;
  graph_id: string;
  name?: string | null;
  description?: string | null;
  config?: Record<string, unknown> | null;
  context?: unknown;
  metadata?: Record<string, unknown> | null;
  version: number;
}

export interface CopiedAssistant {
  assistant: Assistant;
  /** Oldest first. */
  versions: Assistant[];
}

export interface Thread {
  thread_id: string;
  status: string;
  updated_at: string;
  metadata?: Record<string, unknown> | null;
  ttl?: { ttl: number; strategy: string } | null;
}

export interface CopiedThread {
  thread: Thread;
  /** From the oldest checkpoint to the newest. */
  chain: Checkpoint[];
  /** Checkpoints that are not ancestors of the newest. */
  elsewhere: number;
}

export type Cron = Record<string, unknown> & { cron_id: string };

export interface Item {
  namespace: string[];
  key: string;
  value: unknown;
  updated_at: string;
}

type Namespaces = string[][];

const PAGE = 100;
const HISTORY_PAGE = 1000;
const THREADS_AT_ONCE = 4;

export class AgentSource implements Source {
  readonly #server: Server;

  constructor(server: Server) {
    this.#server = server;
  }

  async *batches(positions: Positions, left: (what: string) => void): AsyncGenerator<Batch> {
    yield* this.#optional("assistants", left, this.#assistants());
    yield* this.#optional("threads", left, this.#threads(positions));
    yield* this.#optional("crons", left, this.#crons());
    yield* this.#optional("items", left, this.#items());
  }

  /** Development servers do not have all parts of the API. */
  async *#optional(kind: string, left: (what: string) => void, batches: AsyncGenerator<Batch>): AsyncGenerator<Batch> {
    let isFirst = true;
    try {
      for await (const batch of batches) {
        isFirst = false;
        yield batch;
      }
    } catch (error) {
      if (!isFirst || !(error instanceof RejectedError) || error.status === 401 || error.status === 403) throw error;
      left(`${kind}: the source does not list them: ${error.message}`);
    }
  }

  async *#search<T>(path: string, body: object): AsyncGenerator<T[]> {
    for (let offset = 0; ; offset += PAGE) {
      const page = await this.#server.send<T[]>("POST", path, { ...body, limit: PAGE, offset });
      if (page.length > 0) yield page;
      if (page.length < PAGE) return;
    }
  }

  async *#assistants(): AsyncGenerator<Batch> {
    const order = { sort_by: "assistant_id", sort_order: "asc" };
    for await (const page of this.#search<Assistant>("/assistants/search", order)) {
      const records = await Promise.all(
        page.map(async (assistant) => {
          const path = `/assistants/${assistant.assistant_id}/versions`;
          const versions = await this.#server.send<Assistant[]>("POST", path, { limit: 1000 });
          return record({ assistant, versions: versions.toSorted((a, b) => a.version - b.version) });
        }),
      );
      yield { kind: "assistants", records };
    }
  }

  async *#threads(positions: Positions): AsyncGenerator<Batch> {
    // the order of ids does not change while threads are used; a copy that continues skips what it has
    const after = positions["threads"] ?? "";
    const order = { sort_by: "thread_id", sort_order: "asc" };
    for await (const page of this.#search<Thread>("/threads/search", order)) {
      const wanted = page.filter(({ thread_id: id }) => id > after);
      for (let at = 0; at < wanted.length; at += THREADS_AT_ONCE) {
        const some = wanted.slice(at, at + THREADS_AT_ONCE);
        const records = await Promise.all(some.map(({ thread_id: id }) => this.#readThread(id)));
        yield { kind: "threads", records: records.flat(), position: ["threads", some.at(-1)!.thread_id] };
      }
    }
  }

  async #readThread(id: string): Promise<CopyRecord[]> {
    const thread = await this.#server.find<Thread>(`/threads/${id}?include=ttl`);
    if (!thread) return [];
    const history = await readHistory(this.#server, id);
    const chain = lineage(history);
    const { thread_id, status, updated_at, metadata, ttl } = thread;
    const copied: CopiedThread = {
      thread: { thread_id, status, updated_at, metadata: metadata ?? {}, ttl: ttl ?? null },
      chain,
      elsewhere: history.length - chain.length,
    };
    return [record(copied)];
  }

  async *#crons(): AsyncGenerator<Batch> {
    for await (const page of this.#search<Cron>("/runs/crons/search", {}))
      yield { kind: "crons", records: page.map((cron) => record(cron)) };
  }

  async *#items(): AsyncGenerator<Batch> {
    const tops = new Set<string>();
    for (let offset = 0, more = true; more; offset += PAGE) {
      const body = { max_depth: 1, limit: PAGE, offset };
      const answer = await this.#server.send<Namespaces | { namespaces: Namespaces }>(
        "POST",
        "/store/namespaces",
        body,
      );
      const page = Array.isArray(answer) ? answer : answer.namespaces;
      for (const [top] of page) if (top !== undefined) tops.add(top);
      more = page.length === PAGE;
    }
    for (const top of tops) yield* this.#itemsBelow(top);
  }

  async *#itemsBelow(top: string): AsyncGenerator<Batch> {
    for (let offset = 0; ; offset += PAGE) {
      const body = { namespace_prefix: [top], limit: PAGE, offset, refresh_ttl: false };
      const { items } = await this.#server.send<{ items: Item[] }>("POST", "/store/items/search", body);
      if (items.length > 0) yield { kind: "items", records: items.map((item) => record(item)) };
      if (items.length < PAGE) return;
    }
  }
}

/** Newest first. */
export async function readHistory(server: Server, threadId: string): Promise<Checkpoint[]> {
  const history: Checkpoint[] = [];
  for (;;) {
    const last = history.at(-1)?.checkpoint;
    // the servers' forms of a position differ
    const before = last && { ...last, configurable: last };
    const body = { limit: HISTORY_PAGE, ...(before && { before }) };
    const page = await server.send<Checkpoint[]>("POST", `/threads/${threadId}/history`, body);
    history.push(...page);
    if (page.length < HISTORY_PAGE) return history;
  }
}
