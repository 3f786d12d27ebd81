/**
 * Traces of every order in which their runs can arrive, with a model of what they are in the end, by which the matches
 * of rules are predicted: late roots, late patches, patches before their creates, re-sent batches, creates that are
 * repeated with other values, two pieces of a run at two servers at once, feedback; with texts that stores reject.
 */
import { randomBytes, randomUUID } from "node:crypto";

export interface ModelRun {
  id: string;
  trace_id: string;
  isRoot: boolean;
  name: string;
  ended: boolean;
  error: boolean;
  tags: Set<string>;
  metadata: Record<string, string>;
  /** As rules know it: an id of more than 1,000 bytes is none. */
  thread?: string;
  /** Its create is repeated later, then without this tag and with the error. */
  repeated: boolean;
  /** Position in its thread. */
  start: string;
  feedback: boolean;
}

/** What is sent in one request. */
export interface Message {
  post: object[];
  patch: object[];
  feedback?: object;
  /** Sent at the same time to another server. */
  apart?: Pick<Message, "post" | "patch">;
}

/** A rule as the API takes it, and what it matches. */
export interface ModelRule {
  name: string;
  body: object;
  /** What is done with each match, once. */
  action?: "queue" | "dataset" | "feedback";
  matches(run: ModelRun, trace: readonly ModelRun[]): boolean;
}

/** Conditions that, once true, stay true: otherwise the moment of the evaluation would decide. */
export const MODEL_RULES: ModelRule[] = [
  { name: "all", body: {}, matches: () => true },
  { name: "roots", body: { filter: "eq(is_root, true)" }, matches: (run) => run.isRoot },
  { name: "errors", body: { filter: "neq(error, null)" }, action: "queue", matches: (run) => run.error },
  { name: "late", body: { filter: 'has(tags, "late")' }, action: "dataset", matches: (run) => run.tags.has("late") },
  {
    name: "repeated",
    body: { filter: 'and(has(tags, "early"), neq(error, null))' },
    matches: (run) => run.repeated && run.error,
  },
  {
    name: "metadata",
    action: "feedback",
    body: { filter: 'and(eq(is_root, true), has(metadata, \'{"env": "prod"}\'))' },
    matches: (run) => run.isRoot && run.metadata["env"] === "prod",
  },
  {
    name: "tree",
    body: { filter: "eq(is_root, true)", tree_filter: 'and(eq(name, "tool"), neq(end_time, null))' },
    matches: (run, trace) => run.isRoot && trace.some((other) => other.name === "tool" && other.ended),
  },
  {
    name: "trace",
    body: { filter: 'eq(name, "tool")', trace_filter: 'has(tags, "late")' },
    matches: (run, trace) => run.name === "tool" && trace.some((root) => root.isRoot && root.tags.has("late")),
  },
  {
    name: "feedback",
    body: { filter: 'and(eq(feedback_key, "user"), eq(feedback_score, 0))' },
    matches: (run) => run.feedback,
  },
];

/** Texts that Postgres or UTF-8 do not have. */
const HOSTILE = "\0 \ud800 \x1e\x1f \\u0000 '; --";
const END = "2026-11-21T11:00:00.000000Z";
let clock = Date.UTC(2026, 10, 21, 10) * 1000;

function nextTime(): { iso: string; compact: string } {
  const micros = ++clock;
  const ms = Math.floor(micros / 1000);
  const iso = `${new Date(ms).toISOString().slice(0, -1)}${String(micros % 1000).padStart(3, "0")}Z`;
  return { iso, compact: iso.replaceAll(/[-:.]/g, "") };
}

interface MadeRun {
  model: ModelRun;
  order: string;
  key: object;
  create: object & { start_time: string; session_name: string };
  end: object;
}

export class RuleLoad {
  readonly runs = new Map<string, ModelRun[]>();
  readonly #random: () => number;
  readonly #project: string;
  #late: Message[] = [];
  #threads = 0;

  constructor(random: () => number, project: string) {
    this.#random = random;
    this.#project = project;
  }

  get count(): number {
    let count = 0;
    for (const trace of this.runs.values()) count += trace.length;
    return count;
  }

  /** Makes requests with about `count` new runs, what is late of earlier ones, and repetitions. */
  make(count: number): Message[] {
    const messages: Message[] = [];
    const random = this.#random;
    const later: Message[] = [];
    // what was kept back before
    for (const message of this.#late) (random() < 0.5 ? messages : later).push(message);
    for (let made = 0; made < count;) {
      const post: object[] = [];
      const patch: object[] = [];
      while (post.length < 10 + random() * 20) {
        const trace = this.#trace();
        made += trace.runs.length;
        post.push(...trace.now.post);
        patch.push(...trace.now.patch);
        later.push(...trace.later);
      }
      const message = { post, patch };
      messages.push(message);
      // re-sent as a whole
      if (random() < 0.15) (random() < 0.5 ? messages : later).push(message);
    }
    this.#late = later;
    return messages;
  }

  /** Returns what is still kept back. */
  rest(): Message[] {
    const rest = this.#late;
    this.#late = [];
    return rest;
  }

  /** Matches of a rule. */
  expected(rule: ModelRule): Set<string> {
    const found = new Set<string>();
    for (const trace of this.runs.values()) {
      for (const run of trace) if (run.ended && rule.matches(run, trace)) found.add(run.id);
    }
    return found;
  }

  /** Last ended root by thread, of threads with a root that failed. */
  threads(): Map<string, { last: string; roots: Set<string> }> {
    const found = new Map<string, ModelRun[]>();
    for (const trace of this.runs.values()) {
      const [root] = trace.filter((run) => run.isRoot && run.ended);
      if (root?.thread) found.set(root.thread, [...(found.get(root.thread) ?? []), root]);
    }
    return new Map(
      [...found].flatMap(([thread, roots]) => {
        if (!roots.some((root) => root.error)) return [];
        const last = roots.toSorted((a, b) => (a.start < b.start ? -1 : 1)).at(-1)!.id;
        return [[thread, { last, roots: new Set(roots.map((root) => root.id)) }]];
      }),
    );
  }

  #trace(): { runs: ModelRun[]; now: Message; later: Message[] } {
    const random = this.#random;
    const now: Message = { post: [], patch: [] };
    const later: Message[] = [];
    const some = (share: number) => random() < share;
    const root = this.#run(undefined, some);
    const children = some(0.5) ? Array.from({ length: 1 + Math.floor(random() * 3) }, () => this.#run(root, some)) : [];
    const runs = [root, ...children];
    for (const run of runs) {
      const whole = { ...run.create, ...run.end };
      if (run.model.repeated) {
        const first: typeof whole & { error?: string } = { ...whole };
        delete first.error;
        merge(now, { post: [{ ...first, tags: ["early", HOSTILE] }], patch: [] });
        later.push({ post: [whole], patch: [] });
        continue;
      }
      if (run.model.ended && children.length === 0 && some(0.3)) {
        later.push(this.#apart(run, some));
        continue;
      }
      const isLateRoot = run === root && some(0.2);
      const send = (message: Message) => (isLateRoot ? later.push(message) : merge(now, message));
      if (!run.model.ended) send({ post: [run.create], patch: [] });
      else if (some(0.5)) send({ post: [whole], patch: [] });
      else if (some(0.2)) {
        // the patch comes first
        merge(now, { post: [], patch: [run.end] });
        later.push({ post: [run.create], patch: [] });
      } else {
        send({ post: [run.create], patch: [] });
        later.push({ post: [], patch: [run.end] });
      }
      if (run.model.tags.has("late")) later.push({ post: [], patch: [{ ...run.key, tags: ["late", HOSTILE] }] });
      if (run.model.feedback) {
        later.push({
          post: [],
          patch: [],
          feedback: { id: randomUUID(), run_id: run.model.id, key: "user", score: 0, comment: HOSTILE },
        });
      }
    }
    this.runs.set(
      root.model.id,
      runs.map((run) => run.model),
    );
    return { runs: runs.map((run) => run.model), now, later };
  }

  /** Pieces of a run that two servers get at the same time: its create and its end, or all of it and its tags. */
  #apart({ model, create, end }: MadeRun, some: (share: number) => boolean): Message {
    const { start_time, session_name } = create;
    const located = { ...end, start_time, session_name };
    const tags = model.tags.has("late") && { tags: ["late", HOSTILE] };
    // feedback is given where the other runs' is
    model.feedback = false;
    const pieces = (
      some(0.5)
        ? [
            { post: [create], patch: [] },
            { post: [], patch: [{ ...located, ...tags }] },
          ]
        : [
            { post: [{ ...create, ...end }], patch: [] },
            { post: [], patch: [{ id: model.id, trace_id: model.trace_id, start_time, session_name, ...tags }] },
          ]
    ) as [Message, Message];
    const [first, apart] = some(0.5) ? pieces : pieces.toReversed();
    return { ...first!, apart: apart! };
  }

  #run(root: { model: ModelRun; order: string } | undefined, some: (share: number) => boolean): MadeRun {
    const id = randomUUID();
    const { iso, compact } = nextTime();
    const order = `${root ? `${root.order}.` : ""}${compact}${id}`;
    const trace_id = root?.model.id ?? id;
    const thread_id = root === undefined && some(0.2) ? threadId(++this.#threads) : undefined;
    const isLate = some(0.1);
    const ended = some(0.95);
    const repeated = ended && !isLate && some(0.08);
    const model: ModelRun = {
      id,
      trace_id,
      isRoot: root === undefined,
      name: root ? (some(0.4) ? "tool" : `model ${HOSTILE}`) : "agent",
      ended,
      error: some(repeated ? 0.5 : 0.1),
      tags: new Set(isLate ? ["late"] : []),
      metadata: some(0.3) ? { env: "prod" } : { env: "test" },
      start: iso,
      feedback: !repeated && some(0.03),
      repeated,
      ...(thread_id && thread_id.length <= 1000 && { thread: thread_id.replaceAll("\0", "\uFFFD") }),
    };
    const metadata = { ...model.metadata, ...(thread_id && { thread_id }), hostile: HOSTILE };
    const key = { id, trace_id, dotted_order: order, ...(root && { parent_run_id: root.model.id }) };
    const create = {
      ...key,
      name: model.name,
      run_type: "chain",
      start_time: iso,
      session_name: this.#project,
      // an example is made once of equal inputs
      inputs: { text: `in ${id} ${HOSTILE}` },
      extra: { metadata },
    };
    const end = { ...key, end_time: END, outputs: { text: "out" }, ...(model.error && { error: HOSTILE }) };
    return { model, order, key, create, end };
  }
}

/** Ids of 40 threads, some with null characters; some are longer than a key of an index. */
function threadId(n: number): string {
  if (n % 20 === 3) return randomBytes(3000).toString("base64");
  return n % 4 === 0 ? `thread \0 ${n % 40}` : `thread ${n % 40}`;
}

function merge(into: Message, { post, patch }: Message): void {
  into.post.push(...post);
  into.patch.push(...patch);
}
