import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import type { AcknowledgedThread, Ledger } from "./ledger.ts";
import { LoadClient, Unavailable } from "./load-client.ts";

export type Scenario = (load: Load) => Promise<void>;

const show = (value: unknown): string => JSON.stringify(value) ?? "nothing";
const sameNumbers = (value: unknown, expected: number[]): boolean => show(value) === show(expected);
const range = (length: number): number[] => Array.from({ length }, (_, index) => index + 1);

/** Starts concurrent runs of every kind until `stop()`; records what the server acknowledged in the ledger. */
export class Load {
  readonly ledger: Ledger;
  readonly client: LoadClient;
  readonly #pauseMs: number;
  #stopping = false;
  #workers: Promise<void>[] = [];

  /** `pauseMs`: pause of each scenario before it repeats. */
  constructor(url: string, ledger: Ledger, pauseMs = 20) {
    this.ledger = ledger;
    this.#pauseMs = pauseMs;
    this.client = new LoadClient(url, ledger);
  }

  start(scenarios: Scenario[] = SCENARIOS): void {
    this.#workers = scenarios.map((scenario) => this.#repeat(scenario));
  }

  /** Resolves after the scenarios in progress. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#workers);
  }

  async #repeat(scenario: Scenario): Promise<void> {
    while (!this.#stopping) {
      try {
        await scenario(this);
      } catch (error) {
        // wrong responses are in the ledger; an unavailable server gets a moment
        if (!(error instanceof Unavailable)) this.ledger.countFailure((error as Error).message.slice(0, 80));
        await sleep(250);
      }
      await sleep(this.#pauseMs);
    }
  }

  /** Creates a thread that will be checked at the end. */
  async newThread(check: AcknowledgedThread["check"]): Promise<string> {
    const tag = randomUUID();
    const { thread_id: threadId } = await this.client.request<{ thread_id: string }>("POST", "/threads", {
      metadata: { tag },
    });
    this.ledger.threads.set(threadId, { threadId, tag, check });
    return threadId;
  }

  /** Records a run as soon as it is accepted. */
  accepting(threadId: string, graph: string, steps: number[], onAccepted?: (runId: string) => void) {
    return (runId: string) => {
      this.ledger.runs.set(runId, { runId, threadId, graph, steps, stateless: false });
      onAccepted?.(runId);
    };
  }
}

/** Waits for several runs on one thread, which ends with the last of the accepted ones. */
const echoes: Scenario = async (load) => {
  let accepted = 0;
  let sent = 0;
  const threadId = await load.newThread(({ values }) => {
    const n = Number(values?.["echoed"] ?? 0);
    return n >= accepted && n <= sent ? undefined : `echoed ${show(values)}, accepted ${accepted}, sent ${sent}`;
  });
  for (let n = 1; n <= 5; n++) {
    sent = n;
    const body = { assistant_id: "echo", input: { n } };
    const onAccepted = load.accepting(threadId, "echo", [1], () => (accepted = n));
    try {
      const values = await load.client.request<{ echoed?: number }>(
        "POST",
        `/threads/${threadId}/runs/wait`,
        body,
        onAccepted,
      );
      if (values?.echoed !== n) load.ledger.wrong.push(`wait on ${threadId} for ${n} answered ${show(values)}`);
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      await sleep(100);
    }
  }
};

/** Starts a background run of several steps, each with a side effect. */
const steps =
  (count: number, pause: number, onAccepted?: (runId: string) => void): Scenario =>
  async (load) => {
    let accepted = false;
    const threadId = await load.newThread(({ values }) =>
      !accepted || sameNumbers(values?.["done"], range(count))
        ? undefined
        : `did ${show(values)} instead of ${count} steps`,
    );
    const body = { assistant_id: "steps", input: { steps: count, pause } };
    const { run_id: runId } = await load.client.request<{ run_id: string }>("POST", `/threads/${threadId}/runs`, body);
    accepted = true;
    load.accepting(threadId, "steps", range(count), onAccepted)(runId);
    await load.client.untilFinal(threadId, runId);
  };

/** Runs to an interrupt, then resumes. */
const approval: Scenario = async (load) => {
  let resumed = false;
  let isRequested = false;
  const threadId = await load.newThread(({ status, values }) => {
    if (resumed) return sameSent(values) ? undefined : `was resumed, but has ${show(values)}`;
    if (!isRequested || status === "interrupted" || sameSent(values)) return undefined;
    return `waits for nobody: ${status} ${show(values)}`;
  });
  const sameSent = (values: Record<string, unknown> | null) => show(values?.["sent"]) === '["a draft"]';
  const path = `/threads/${threadId}/runs`;
  const first = await load.client.request<{ run_id: string }>("POST", path, { assistant_id: "approval", input: {} });
  isRequested = true;
  load.accepting(threadId, "approval", [1])(first.run_id);
  await load.client.untilFinal(threadId, first.run_id);
  const body = { assistant_id: "approval", command: { resume: "yes" } };
  const onAccepted = load.accepting(threadId, "approval", [2], () => (resumed = true));
  await load.client.request("POST", `${path}/wait`, body, onAccepted);
};

/** Reads a stream to its end, and rejoins it when it breaks. */
const stream: Scenario = async (load) => {
  let accepted: string | undefined;
  const threadId = await load.newThread(({ values }) =>
    !accepted || values?.["sent"] === 20 ? undefined : `streamed, but has ${show(values)}`,
  );
  const body = { assistant_id: "ticker", input: { frames: 20, pause: 10 }, stream_mode: ["custom", "values"] };
  const onAccepted = load.accepting(threadId, "ticker", [1], (runId) => (accepted = runId));
  try {
    const text = await load.client.text("POST", `/threads/${threadId}/runs/stream`, body, onAccepted);
    if (/^event: error/m.test(text)) load.ledger.wrong.push(`the stream of ${threadId} brought ${text.slice(-500)}`);
    // an infrastructure failure may repeat frames, but never skips one silently
    const numbers = new Set([...text.matchAll(/^data: \{"n":(\d+)\}/gm)].map((match) => Number(match[1])));
    const isWhole = !/^event: incomplete/m.test(text);
    if (isWhole && numbers.size !== 20)
      load.ledger.wrong.push(`the stream of ${threadId} brought ${numbers.size} of 20 frames`);
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    if (accepted) await load.client.untilFinal(threadId, accepted);
  }
};

/** Starts stateless runs. */
const stateless: Scenario = async (load) => {
  const body = { assistant_id: "echo", input: { n: 7 } };
  const onAccepted = (runId: string) =>
    void load.ledger.runs.set(runId, { runId, threadId: "", graph: "echo", steps: [1], stateless: true });
  const values = await load.client.request<{ echoed?: number }>("POST", "/runs/wait", body, onAccepted);
  if (values?.echoed !== 7) load.ledger.wrong.push(`a stateless wait answered ${show(values)}`);
};

/** Queues several runs on one thread: each counts once, in the order in which they were accepted. */
const enqueue: Scenario = async (load) => {
  const accepted: number[] = [];
  const unsure = new Set<number>();
  const threadId = await load.newThread(({ values }) => {
    const labels = (values?.["labels"] ?? []) as number[];
    const counted = labels.filter((label) => !unsure.has(label));
    const right = sameNumbers(counted, accepted) && new Set(labels).size === labels.length;
    return right ? undefined : `counted ${show(labels)}, accepted ${show(accepted)}, unsure ${show([...unsure])}`;
  });
  let last = "";
  for (const label of range(5)) {
    try {
      const body = { assistant_id: "counter", input: { label }, multitask_strategy: "enqueue" };
      const { run_id: runId } = await load.client.request<{ run_id: string }>(
        "POST",
        `/threads/${threadId}/runs`,
        body,
      );
      accepted.push(label);
      load.accepting(threadId, "counter", [1])(runId);
      last = runId;
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      unsure.add(label);
      await sleep(50);
    }
  }
  if (last) await load.client.untilFinal(threadId, last);
};

interface Message {
  content: string;
}

/** Turns of a conversation before the first that is checked. */
const EARLIER_TURNS = 500;

/**
 * Continues a conversation of 500 turns with queued runs: each question and its answer are there once, in the order of
 * acceptance, in the thread, its state, and its history.
 */
const conversation: Scenario = async (load) => {
  const accepted: string[] = [];
  const unsure = new Set<string>();
  const problem = (messages: Message[] | undefined): string | undefined => {
    const contents = (messages ?? []).map(({ content }) => content).slice(2 * EARLIER_TURNS);
    const questions = contents.filter((_, at) => at % 2 === 0);
    const answered = contents.every((content, at) => at % 2 === 0 || content === `answer to ${contents[at - 1]}`);
    const counted = questions.filter((label) => !unsure.has(label));
    const isRight = answered && contents.length % 2 === 0 && show(counted) === show(accepted);
    return isRight && new Set(contents).size === contents.length
      ? undefined
      : `has the turns ${show(contents)}, accepted ${show(accepted)}, unsure ${show([...unsure])}`;
  };
  let isFilled = false;
  const threadId = await load.newThread(({ values }) =>
    isFilled ? problem(values?.["messages"] as Message[]) : undefined,
  );
  const path = `/threads/${threadId}`;
  // the first run answers the last of them
  const earlier = range(2 * EARLIER_TURNS - 1).map((n) => ({
    role: n % 2 === 1 ? "user" : "assistant",
    content: `${n} ${"m".repeat(200)}`,
    id: `earlier-${n}`,
  }));
  const first = { assistant_id: "conversation", input: { messages: earlier } };
  const { run_id: filling } = await load.client.request<{ run_id: string }>("POST", `${path}/runs`, first);
  isFilled = true;
  load.accepting(threadId, "conversation", [1])(filling);
  await load.client.untilFinal(threadId, filling);
  for (const label of range(6).map((n) => `question ${n}`)) {
    try {
      const input = { messages: [{ role: "user", content: label }] };
      const body = { assistant_id: "conversation", input, multitask_strategy: "enqueue" };
      const { run_id: runId } = await load.client.request<{ run_id: string }>("POST", `${path}/runs`, body);
      accepted.push(label);
      load.accepting(threadId, "conversation", [1])(runId);
      await load.client.untilFinal(threadId, runId);
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      // an accepted one must be there, even if its end was not seen
      if (!accepted.includes(label)) unsure.add(label);
      await sleep(50);
    }
  }
  if (unsure.size > 0) return;
  const state = await load.client.patiently<{ values: { messages: Message[] } }>("GET", `${path}/state`);
  const history = await load.client.patiently<{ values: { messages: Message[] } }[]>("GET", `${path}/history?limit=3`);
  const found = problem(state.values.messages) ?? problem(history[0]?.values.messages);
  if (found) load.ledger.wrong.push(`the state of ${threadId} ${found}`);
};

export const SCENARIOS: Scenario[] = [
  echoes,
  echoes,
  steps(6, 30),
  steps(6, 30),
  steps(2, 600),
  approval,
  stream,
  stateless,
  enqueue,
  conversation,
];

export const stepRuns = steps;
