/** Executes the checkpoint frames of a host that has no access to the database: see host-protocol.ts. */
import type {
  CheckpointFrame,
  CheckpointResult,
  WireCheckpoint,
  WireError,
  WireItem,
  WireValue,
  WireWrite,
} from "../../../host-kit/src/host-protocol.ts";
import type { CheckpointDatabase } from "./checkpoint-database.ts";
import type { StoredHistory } from "./delta-history.ts";
import type { ReadCheckpoints, StoredChannel, StoredValue, StoredWrite } from "./read-statement.ts";
import type { WriteItem } from "./rows.ts";

type Send = (result: CheckpointResult, body: Buffer[]) => void;

/**
 * The checkpoints of one host. Frames are executed in the order of their arrival, and the writes of all hosts of a
 * database share its statements.
 */
export class ServedCheckpoints {
  readonly #database: CheckpointDatabase;
  readonly #send: Send;
  /** Items that are not committed yet, by the id of their frame. */
  readonly #items = new Map<number, WriteItem>();

  constructor(database: CheckpointDatabase, send: Send) {
    this.#database = database;
    this.#send = send;
  }

  /** @throws RangeError for a body that does not have the lengths that the frame states */
  receive(frame: CheckpointFrame, body: Buffer): void {
    switch (frame.t) {
      case "checkpoint.write":
        return this.#write(frame.id, readItem(frame.item, body), frame.lazy);
      case "checkpoint.hurry":
        return this.#database.hurry();
      case "checkpoint.relax":
        return this.#database.relax(new Set(frame.ids.flatMap((id) => this.#items.get(id) ?? [])));
      case "checkpoint.read": {
        const { thread_id: threadId, ns, id, before, filter, limit } = frame.query;
        const found = this.#database.read({ threadId, ns, id, before, filter, limit, asStored: true });
        return this.#answer(frame.id, found.then(encodeCheckpoints));
      }
      case "checkpoint.history": {
        const { thread_id, ns, checkpoint_id, channels } = frame;
        const found = this.#database.readDeltaHistory(thread_id, ns, checkpoint_id, channels, true);
        return this.#answer(frame.id, found.then(encodeHistory));
      }
      case "checkpoint.change":
        return this.#answer(
          frame.id,
          this.#database.change(frame.change).then(() => ({ result: {}, body: [] })),
        );
    }
  }

  #write(id: number, item: WriteItem, lazy: boolean): void {
    this.#items.set(id, item);
    const written = this.#database.write(item, lazy).finally(() => this.#items.delete(id));
    this.#answer(
      id,
      written.then((finished) => ({ result: { ...(finished && { finished }) }, body: [] })),
    );
  }

  #answer(id: number, answer: Promise<Answer>): void {
    void answer.then(
      ({ result, body }) => this.#send({ t: "checkpoint.result", id, ...result }, body),
      (error: unknown) => this.#send({ t: "checkpoint.result", id, error: wireError(error) }, []),
    );
  }
}

interface Answer {
  result: Omit<CheckpointResult, "t" | "id">;
  body: Buffer[];
}

function wireError(error: unknown): WireError {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return { status: 500, name, message };
}

function readItem(item: WireItem, body: Buffer): WriteItem {
  const { thread_id: threadId, ns, fence, guard, checkpoint: c, finish } = item;
  let at = 0;
  const take = (length: number): Buffer => {
    if (!(length >= 0 && at + length <= body.length)) throw new RangeError("a value exceeds the body of its frame");
    return body.subarray(at, (at += length));
  };
  return {
    fence: fence && { runId: fence.run_id, attempt: fence.attempt },
    guard: guard && { threadId, newest: guard },
    checkpoint: c && {
      threadId,
      ns,
      id: c.id,
      parentId: c.parent_id,
      checkpoint: take(c.bytes[0]).toString(),
      metadata: take(c.bytes[1]).toString(),
    },
    blobs: item.blobs.map(({ channel, version, type, bytes, link }) => ({
      ...{ threadId, ns, channel, version, type, link },
      blob: bytes === null ? null : take(bytes),
    })),
    writes: item.writes.map(
      ({ checkpoint_id: checkpointId, task_id: taskId, idx, channel, type, bytes, replaces }) => ({
        ...{ threadId, ns, checkpointId, taskId, idx, channel, type, replaces },
        blob: take(bytes),
      }),
    ),
    ...(finish && { finish: { threadId, state: take(finish.bytes), notify: finish.notify } }),
  };
}

/** Collects the parts of a body, of which the values of channels are the first. */
class Body {
  readonly values: WireValue[] = [];
  readonly parts: Buffer[] = [];
  readonly #places = new Map<StoredValue, number>();

  /** @returns the part's length */
  add = (part: string | Uint8Array): number => {
    const bytes = typeof part === "string" ? Buffer.from(part) : Buffer.from(part.buffer, part.byteOffset, part.length);
    this.parts.push(bytes);
    return bytes.length;
  };

  /** @returns the value's place, which checkpoints share that have the value in common */
  place(value: StoredValue | StoredChannel): number {
    const changes: (StoredValue & Partial<StoredChannel>)[] = [];
    let at: (StoredValue & Partial<StoredChannel>) | undefined = value;
    for (; at && !this.#places.has(at); at = at.base) changes.push(at);
    for (const added of changes.reverse()) {
      const { type, version = "", data, base } = added;
      this.#places.set(added, this.values.length);
      this.values.push({ type, version, bytes: this.add(data), ...(base && { base: this.#places.get(base)! }) });
    }
    return this.#places.get(value)!;
  }

  write = ({ taskId, idx, channel, type, data }: StoredWrite): WireWrite => ({
    ...{ task_id: taskId, idx, channel, type },
    bytes: this.add(data),
  });
}

function encodeCheckpoints({ checkpoints: found, newest }: ReadCheckpoints): Answer {
  const body = new Body();
  const places = found.map(({ values }) =>
    [...values].map(([channel, value]): [string, number] => [channel, body.place(value)]),
  );
  const checkpoints = found.map((stored, i): WireCheckpoint => ({
    thread_id: stored.threadId,
    ns: stored.ns,
    id: stored.id,
    parent_id: stored.parentId,
    values: places[i]!,
    bytes: [body.add(stored.checkpoint), body.add(stored.metadata)],
    writes: stored.writes.map(body.write),
    parent_sends: stored.parentSends.map(body.write),
  }));
  const { values, parts } = body;
  return { result: { checkpoints, values, ...(newest !== undefined && { newest }) }, body: parts };
}

function encodeHistory(found: Map<string, StoredHistory>): Answer {
  const body = new Body();
  const seeds = new Map([...found].flatMap(([channel, { seed }]) => (seed ? [[channel, body.place(seed)]] : [])));
  const history = [...found].map(([channel, { writes }]) => ({
    channel,
    writes: writes.map(body.write),
    seed: seeds.get(channel),
  }));
  return { result: { history, values: body.values }, body: body.parts };
}
