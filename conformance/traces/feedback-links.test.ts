/**
 * Feedback links end to end: requested with the run, returned by the stream and the result, used without a key, read on
 * the trace.
 */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { Client } from "@langchain/langgraph-sdk";
import type { Feedback } from "langsmith/schemas";
import { afterAll, beforeAll, expect, test } from "vitest";

import { type Client as AgentClient, connectTo } from "../clients.ts";
import { startTracedServer } from "../server.ts";
import { all, connect } from "./client.ts";

let server: Awaited<ReturnType<typeof startTracedServer>>;
let agents: AgentClient;
let traces: ReturnType<typeof connect>;

beforeAll(async () => {
  server = await startTracedServer();
  agents = connectTo("1.15.0", server.url);
  traces = connect({ apiUrl: server.tracesUrl });
  // a request waits for the link, but not for as long as a busy machine may take
  while (
    !(await fetch(`${server.tracesUrl}/ok`).then(
      ({ ok }) => ok,
      () => false,
    ))
  )
    await sleep(200);
}, 120_000);
afterAll(() => server.stop());

const input = { messages: [{ role: "user", content: "hi" }] };
const feedbackKeys = ["thumbs", "tone"];
type Links = Record<string, string>;

async function waitForFeedback(runId: string, count: number): Promise<Feedback[]> {
  const list = () => all(traces.listFeedback({ runIds: [runId] }));
  await expect.poll(async () => (await list()).length, { timeout: 20_000 }).toBe(count);
  return list();
}

test("the stream ends with one feedback link per key; GET and POST create feedback on the run's trace", async () => {
  const { thread_id } = await agents.threads.create();
  const frames: { event: string; data: unknown }[] = [];
  for await (const frame of agents.runs.stream(thread_id, "agent", { input, feedbackKeys }))
    frames.push(frame as never);
  const last = frames.at(-1)!;
  expect(last.event).toBe("feedback");
  const links = last.data as Links;
  expect(Object.keys(links).sort()).toEqual(feedbackKeys);
  const { run_id } = frames[0]!.data as { run_id: string };

  expect((await fetch(`${links["thumbs"]}?score=1&comment=good`)).status).toBe(200);
  const body = { score: 0.5, value: "dry", correction: { tone: "warm" }, metadata: { page: 3 } };
  const posted = await fetch(links["tone"]!, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(posted.status).toBe(200);

  const given = await waitForFeedback(run_id, 2);
  expect(given.find((entry) => entry.key === "thumbs")).toMatchObject({ run_id, score: 1, comment: "good" });
  expect(given.find((entry) => entry.key === "tone")).toMatchObject({
    run_id,
    score: 0.5,
    value: "dry",
    correction: { tone: "warm" },
  });
  await expect
    .poll(
      () =>
        traces
          .readRun(run_id)
          .then((run) => Object.keys(run.feedback_stats ?? {}).sort())
          .catch(() => []),
      {
        timeout: 20_000,
      },
    )
    .toEqual(feedbackKeys);
  // the official client's own way to use a link
  await traces.createFeedback(run_id, "by-hand", { score: 1 });
  await waitForFeedback(run_id, 3);
});

/** Waits for a run with links; the official client cannot request them here. */
async function wait(thread: string): Promise<Record<string, unknown>> {
  const response = await fetch(`${server.url}${thread}/runs/wait`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ assistant_id: "agent", input, feedback_keys: feedbackKeys }),
  });
  return (await response.json()) as Record<string, unknown>;
}

test("wait and join return feedback links beside the values, also for stateless runs, as does the run's record", async () => {
  const { thread_id } = await agents.threads.create();
  const waited = await wait(`/threads/${thread_id}`);
  expect(Object.keys(waited["__feedback__"] as Links).sort()).toEqual(feedbackKeys);
  expect(waited["messages"]).toHaveLength(2);

  const run = await agents.runs.create(thread_id, "agent", { input, feedbackKeys: ["one"] } as never);
  const joined = (await agents.runs.join(thread_id, run.run_id)) as unknown as { __feedback__: Links };
  const { kwargs } = (await agents.runs.get(thread_id, run.run_id)) as unknown as {
    kwargs: { feedback_keys: string[]; feedback_urls: Links };
  };
  expect(kwargs.feedback_keys).toEqual(["one"]);
  expect(joined.__feedback__).toEqual(kwargs.feedback_urls);
  const again = (await agents.runs.join(thread_id, run.run_id)) as unknown as { __feedback__: Links };
  expect(again).toEqual(joined);

  const stateless = await wait("");
  expect((await fetch(`${(stateless["__feedback__"] as Links)["tone"]}?score=0`)).status).toBe(200);
  // a run that requests no links gets none
  const plain = (await agents.runs.wait(thread_id, "agent", { input })) as Record<string, unknown>;
  expect(plain).not.toHaveProperty("__feedback__");
});

test("a failed run has feedback links too", async () => {
  const { thread_id } = await agents.threads.create();
  const events: string[] = [];
  let links: Links = {};
  const asked = { input: { reason: "no luck" }, feedbackKeys: ["thumbs"] };
  for await (const { event, data } of agents.runs.stream(thread_id, "failing", asked) as AsyncIterable<{
    event: string;
    data: unknown;
  }>) {
    events.push(event);
    if (event === "feedback") links = data as Links;
  }
  expect(events.slice(-2)).toEqual(["error", "feedback"]);
  expect((await fetch(`${links["thumbs"]}?score=0`)).status).toBe(200);
});

test("a chat page adds keys to the runs of its client and sends a thumb, as docs/feedback-links.md shows", async () => {
  const page = readFileSync(new URL("../../docs/feedback-links.md", import.meta.url), "utf8");
  const [, code] = /^```js\n([\s\S]*?)^```$/m.exec(page) ?? [];
  // oxlint-disable-next-line typescript/no-implied-eval -- the page's own code is what is tested
  const make = new Function("Client", "apiUrl", "token", `${code}; return { client, sendThumb };`) as (
    ...args: unknown[]
  ) => { client: AgentClient; sendThumb(threadId: string, runId: string, isUp: boolean): Promise<void> };
  const { client, sendThumb } = make(Client, server.url, "none");
  const { thread_id } = await client.threads.create();
  let runId = "";
  // as useStream does
  const onRunCreated = ({ run_id }: { run_id: string }) => void (runId = run_id);
  await all(client.runs.stream(thread_id, "agent", { input, onRunCreated }));
  await sendThumb(thread_id, runId, true);
  expect(await waitForFeedback(runId, 1)).toMatchObject([{ key: "thumbs", score: 1 }]);
});
