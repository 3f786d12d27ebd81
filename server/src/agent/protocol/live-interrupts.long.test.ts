/** Answers that are sent as soon as an interrupt is visible, before its run has ended. */
import { setTimeout as sleep } from "node:timers/promises";

import { afterEach, describe, expect, test, vi } from "vitest";

import { EventReader, listenAgent } from "../../../test/protocol-client.ts";
import { questionServer } from "../../../test/questions.ts";
import { uuid7 } from "../../base/ids.ts";

const { server, get, post, ended } = await questionServer();
const { url } = await listenAgent(server);

const readers: EventReader[] = [];
afterEach(() => readers.splice(0).forEach((reader) => reader.close()));

let id = 0;
async function command(threadId: string, method: string, params: object) {
  return (await post(`/threads/${threadId}/commands`, { id: ++id, method, params })).json;
}

type Reply = (event: { interrupt_id: string; payload: unknown }) => Promise<object>;

/** Starts a run and calls `reply` at each interrupt, at the moment its event arrives. Returns the replies' results. */
async function converse(graph: string, input: object, reply: Reply) {
  const threadId = uuid7();
  const channels = ["input", "lifecycle", "custom"];
  const reader = await EventReader.open(url, threadId, { channels });
  readers.push(reader);
  const replies: Promise<object>[] = [];
  reader.onEvent = ({ method, params }) => {
    if (method === "input.requested") replies.push(reply.call({ threadId }, params.data));
  };
  const respond = (method: string, params: object) => command(threadId, method, params);
  return { threadId, reader, replies, respond, begin: () => respond("run.start", { assistant_id: graph, input }) };
}

const completed = ({ events }: EventReader) =>
  vi.waitUntil(
    () => events.some((e) => e.params.namespace.length === 0 && ["completed", "failed"].includes(e.params.data.event)),
    { timeout: 20_000, interval: 5 },
  );

/** Answers every interrupt with its payload. */
async function answerAll(graph: string, input: object, method: "input.respond" | "run.start") {
  const talk = await converse(graph, input, ({ interrupt_id, payload }) =>
    method === "input.respond"
      ? talk.respond(method, { interrupt_id, response: payload })
      : talk.respond(method, { assistant_id: graph, input: payload }),
  );
  await talk.begin();
  await completed(talk.reader);
  const rejected = (await Promise.all(talk.replies)).filter((reply) => (reply as { type: string }).type !== "success");
  return { ...talk, rejected, values: (await get(`/threads/${talk.threadId}`)).values };
}

describe.each(["input.respond", "run.start"] as const)("by %s", (method) => {
  test("200 immediate answers are accepted, none is rejected", { timeout: 120_000 }, async () => {
    const rejected: object[] = [];
    const logs: string[] = [];
    for (let i = 0; i < 100; i += 1) {
      // two interrupts of one task, with the same id
      const talk = await answerAll("twice", { ms: 0 }, method);
      rejected.push(...talk.rejected);
      talk.reader.close();
      if (rejected.length > 0) break;
      logs.push(talk.values.log[0]);
    }
    expect(rejected).toEqual([]);
    expect(new Set(logs)).toEqual(new Set(["first, second"]));
  });

  test("an interrupt can be answered while a parallel node still works", async () => {
    const talk = await answerAll("spoken", { ms: 400 }, method);
    expect(talk.rejected).toEqual([]);
    expect(talk.values.log.toSorted()).toEqual(["answer go on?", "worked"]);
  });
});

test("of two immediate answers to one interrupt, one is accepted", async () => {
  for (let i = 0; i < 10; i += 1) {
    const talk = await converse("twice", { ms: 0 }, async ({ interrupt_id, payload }) => {
      const answer = { interrupt_id, response: payload };
      return Promise.all([talk.respond("input.respond", answer), talk.respond("input.respond", answer)]);
    });
    await talk.begin();
    await completed(talk.reader);
    for (const answers of (await Promise.all(talk.replies)) as { type: string }[][]) {
      expect(answers.map(({ type }) => type).toSorted()).toEqual(["error", "success"]);
    }
    expect((await get(`/threads/${talk.threadId}`)).values.log).toEqual(["first, second"]);
    talk.reader.close();
  }
});

test("several interrupts can be answered one by one, each as it arrives", async () => {
  const talk = await converse("parallel", { ms: 50 }, ({ interrupt_id, payload }) => {
    answered.push(interrupt_id);
    return answered.indexOf(interrupt_id) === answered.length - 1
      ? talk.respond("input.respond", { interrupt_id, response: `to ${String(payload)}` })
      : Promise.resolve({ type: "success" });
  });
  const answered: string[] = [];
  await talk.begin();
  await completed(talk.reader);
  expect((await Promise.all(talk.replies)).map((reply) => (reply as { type: string }).type)).not.toContain("error");
  const { values } = await get(`/threads/${talk.threadId}`);
  expect(values.log).toEqual(["left to left?", "right to right?", "joined"]);
});

test("input with strategy interrupt does not answer an interrupt of the run that it stops", async () => {
  const talk = await converse("spoken", { ms: 10_000 }, () =>
    talk.respond("run.start", { assistant_id: "spoken", input: { ms: 0 }, multitaskStrategy: "interrupt" }),
  );
  await talk.begin();
  await vi.waitUntil(() => talk.replies.length > 1, { timeout: 20_000, interval: 5 });
  const [, second] = await ended(talk.threadId);
  expect(second).toMatchObject({ kwargs: { input: { ms: 0 } }, status: "success" });
  talk.reader.close();
});

/** Sends `answer` in the moment in which the run's stream shows the interrupt. */
async function streamed(
  graph: string,
  input: object,
  answer: (threadId: string, interrupt: string) => Promise<number>,
) {
  const { thread_id: threadId } = (await post("/threads", {})).json;
  const response = await fetch(`${url}/threads/${threadId}/runs/stream`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ assistant_id: graph, input, stream_mode: ["values", "updates", "custom"] }),
  });
  let text = "";
  let status: Promise<number> | undefined;
  for await (const chunk of response.body!) {
    text += Buffer.from(chunk).toString();
    const interrupt = /"__interrupt__":\[\{[^}]*"id":"([0-9a-f]{32})"/.exec(text)?.[1];
    if (interrupt) status ??= answer(threadId, interrupt);
  }
  return { threadId, text, status: await status };
}

test.each(["approval", "parallel", "spoken"])(
  "an ordinary run's interrupt can be answered at once, also with strategy reject (%s)",
  { timeout: 60_000 },
  async (graph) => {
    for (let i = 0; i < (graph === "spoken" ? 1 : 20); i += 1) {
      for (const multitask_strategy of ["enqueue", "reject"]) {
        const { threadId, status } = await streamed(graph, { ms: 100, file: "/dev/null" }, async (id, interrupt) => {
          const command = { resume: graph === "parallel" ? { [interrupt]: "yes" } : "yes" };
          const run = { assistant_id: graph, command, multitask_strategy };
          return (await post(`/threads/${id}/runs`, run)).status;
        });
        expect(status).toBe(200);
        const [, resumed] = await ended(threadId);
        expect(resumed).toMatchObject({ status: "success" });
      }
    }
  },
);

test("a resume with strategy reject is rejected while another run works", async () => {
  const { thread_id: threadId } = (await post("/threads", {})).json;
  await post(`/threads/${threadId}/runs`, { assistant_id: "late", input: { ms: 1000 } });
  const run = { assistant_id: "late", command: { resume: "yes" }, multitask_strategy: "reject" };
  await sleep(300);
  expect((await post(`/threads/${threadId}/runs`, run)).status).toBe(422);
  await ended(threadId);
  expect((await post(`/threads/${threadId}/runs`, run)).status).toBe(200);
  expect((await ended(threadId)).map(({ status }) => status)).toEqual(["success", "success"]);
});

test("the events that a node emits before it interrupts arrive before the interrupt", async () => {
  for (let i = 0; i < 20; i += 1) {
    const { text } = await streamed("spoken", { ms: 0 }, () => Promise.resolve(200));
    expect(text.match(/event: custom/g)).toHaveLength(2);
    expect(text.indexOf('"payload":2')).toBeLessThan(text.indexOf("__interrupt__"));
    const talk = await converse("spoken", { ms: 0 }, () => Promise.resolve({}));
    await talk.begin();
    await vi.waitUntil(() => talk.replies.length > 0, { timeout: 20_000, interval: 1 });
    const { events } = talk.reader;
    const asked = events.findIndex(({ method }) => method === "input.requested");
    expect(events.slice(0, asked).filter(({ method }) => method === "custom")).toHaveLength(2);
    talk.reader.close();
  }
});
