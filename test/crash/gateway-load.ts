/** Load on a deployment while it is replaced: no request may fail, and no stream may be cut short or repeat frames. */
import { setTimeout as sleep } from "node:timers/promises";

import { type Load, type Scenario, SCENARIOS } from "./load.ts";

const range = (length: number): number[] => Array.from({ length }, (_, index) => index);

/** Numbers of a ticker's frames, in order of arrival. */
const numbersIn = (text: string): number[] =>
  [...text.matchAll(/^data: \{"n":(\d+)\}/gm)].map((match) => Number(match[1]));

const wrongFrames = (load: Load, what: string, numbers: number[], count: number): void => {
  if (JSON.stringify(numbers) !== JSON.stringify(range(count)))
    load.ledger.wrong.push(`${what} brought frames ${JSON.stringify(numbers)} instead of 0 to ${count - 1}`);
};

const newTicker = async (load: Load, frames: number): Promise<string> => {
  let accepted = false;
  const thread = await load.newThread(({ values }) =>
    !accepted || values?.["sent"] === frames
      ? undefined
      : `streamed ${frames} frames, but has ${JSON.stringify(values)}`,
  );
  accepted = true;
  return thread;
};

/** Reads a stream to its end: each frame once, in order, regardless of the serving revision. */
const stream =
  (frames: number, pause: number): Scenario =>
  async (load) => {
    const thread = await newTicker(load, frames);
    const body = { assistant_id: "ticker", input: { frames, pause }, stream_mode: ["custom"] };
    const text = await load.client.text(
      "POST",
      `/threads/${thread}/runs/stream`,
      body,
      load.accepting(thread, "ticker", [1]),
    );
    wrongFrames(load, `the stream of ${thread}`, numbersIn(text), frames);
    if (/^event: error/m.test(text)) load.ledger.wrong.push(`the stream of ${thread} brought ${text.slice(-500)}`);
  };

/** Leaves and rejoins the stream of a background run several times, through the currently serving revision. */
const rejoined: Scenario = async (load) => {
  const frames = 60;
  const thread = await newTicker(load, frames);
  const path = `/threads/${thread}/runs`;
  const body = {
    assistant_id: "ticker",
    input: { frames, pause: 100 },
    stream_mode: ["custom"],
    stream_resumable: true,
  };
  const { run_id: run } = await load.client.request<{ run_id: string }>("POST", path, body);
  load.accepting(thread, "ticker", [1])(run);
  let received: number[] = [];
  let last = "-1";
  while (received.length < frames) {
    const { text, isOver } = await load.client.part(`${path}/${run}/stream?stream_mode=custom`, last, 1500);
    const ids = [...text.matchAll(/^id: (.+)$/gm)];
    last = ids.at(-1)?.[1] ?? last;
    received = [...received, ...numbersIn(text)];
    if (isOver) break;
  }
  wrongFrames(load, `the stream of run ${run}, joined by turns,`, received, frames);
};

/** Waits for a run that takes longer than a replacement. */
const longWait: Scenario = async (load) => {
  const steps = 8;
  const thread = await load.newThread(() => undefined);
  const body = { assistant_id: "steps", input: { steps, pause: 900 } };
  const accepted = load.accepting(
    thread,
    "steps",
    range(steps).map((n) => n + 1),
  );
  const values = await load.client.request<{ done?: number[] }>("POST", `/threads/${thread}/runs/wait`, body, accepted);
  if (values?.done?.length !== steps) load.ledger.wrong.push(`a long wait answered ${JSON.stringify(values)}`);
  await sleep(100);
};

export const GATEWAY_SCENARIOS: Scenario[] = [
  ...SCENARIOS,
  stream(20, 10),
  stream(100, 20),
  stream(150, 100),
  rejoined,
  longWait,
];
