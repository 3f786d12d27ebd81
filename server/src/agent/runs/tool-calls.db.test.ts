/**
 * Conversations that continue after a tool call was cancelled, checked by a model that rejects what providers reject.
 */
import { setTimeout as sleep } from "node:timers/promises";

import { expect, test } from "vitest";

import { type TestAgentServer, testAgentServer } from "../../../test/agent-server.ts";
import { QUESTIONS_PROJECT } from "../../../test/questions.ts";

const server = await testAgentServer({}, QUESTIONS_PROJECT);

type Message = { type: string; content: string; tool_call_id?: string; status?: string };

const human = (content: string) => ({ input: { messages: [{ role: "user", content }] } });

async function newThread({ call } = server): Promise<string> {
  return (await call("POST", "/threads", {})).json.thread_id;
}

async function say(threadId: string, body: object, { call } = server) {
  const response = await call("POST", `/threads/${threadId}/runs/wait`, { assistant_id: "chat", ...body });
  return response.json as { messages?: Message[]; __error__?: { message: string }; __interrupt__?: unknown[] };
}

/** Starts a run and cancels it once its tools are called; `done`: number of tools that have finished by then. */
async function cancelled(threadId: string, content: string, done = 0, { call, sql }: TestAgentServer = server) {
  const { json } = await call("POST", `/threads/${threadId}/runs`, { assistant_id: "chat", ...human(content) });
  for (;;) {
    const { json: state } = await call("GET", `/threads/${threadId}/state`);
    const [row] = await sql<{ n: number }[]>`
      select count(*)::int as n from checkpoint_writes w
      where w.thread_id = ${threadId} and w.channel = 'messages' and w.idx >= 0
        and w.checkpoint_id = (select max(checkpoint_id) from checkpoints where thread_id = ${threadId})`;
    if (state.next.includes("tool") && row!.n >= done && state.metadata.run_id === json.run_id) break;
    await sleep(20);
  }
  expect((await call("POST", `/threads/${threadId}/runs/${json.run_id}/cancel?wait=1`)).status).toBe(204);
}

const roles = (messages: Message[] | undefined) =>
  messages?.map(({ type, content }) => (type === "tool" ? content : type));
const STOPPED = expect.stringMatching(/stopped before it returned/);

test("answers new input after a cancelled tool call", async () => {
  const threadId = await newThread();
  await cancelled(threadId, "use slow");
  const { messages } = await say(threadId, human("never mind"));
  expect(roles(messages)).toEqual(["human", "ai", STOPPED, "human", "ai"]);
  expect(messages![2]).toMatchObject({ type: "tool", status: "error", name: "slow" });
});

test("keeps the results of finished parallel calls, and withstands a second cancellation", async () => {
  const threadId = await newThread();
  await cancelled(threadId, "use quick slow", 1);
  await cancelled(threadId, "use slow slow");
  const { messages } = await say(threadId, human("stop it"));
  expect(roles(messages)).toEqual([
    "human",
    "ai",
    "quick result",
    STOPPED,
    "human",
    "ai",
    STOPPED,
    STOPPED,
    "human",
    "ai",
  ]);
});

test("answers a run that replaces one in the middle of a tool call", async () => {
  const threadId = await newThread();
  const path = `/threads/${threadId}/runs`;
  await server.call("POST", path, { assistant_id: "chat", ...human("use slow") });
  while (!(await server.call("GET", `/threads/${threadId}/state`)).json.next?.includes("tool")) await sleep(20);
  const { messages } = await say(threadId, { ...human("hurry"), multitask_strategy: "interrupt" });
  expect(roles(messages)).toEqual(["human", "ai", STOPPED, "human", "ai"]);
});

test("a cancelled run that is continued runs its tool", async () => {
  const threadId = await newThread();
  await cancelled(threadId, "use brief");
  const { messages } = await say(threadId, { input: null });
  expect(roles(messages)).toEqual(["human", "ai", "brief result", "ai"]);
});

test("a question in a tool is answered by a resume and discarded by new input", async () => {
  const answered = await newThread();
  expect((await say(answered, human("use human"))).__interrupt__).toHaveLength(1);
  expect(roles((await say(answered, { command: { resume: "yes" } })).messages)).toEqual(["human", "ai", "yes", "ai"]);
  const discarded = await newThread();
  await say(discarded, human("use human quick"));
  const { messages } = await say(discarded, human("something else"));
  expect(roles(messages)).toEqual(["human", "ai", STOPPED, "quick result", "human", "ai"]);
});

test("adds no result where the caller supplies that of the stopped call", async () => {
  const threadId = await newThread();
  await cancelled(threadId, "use slow");
  const { json } = await server.call("GET", `/threads/${threadId}/state`);
  const [{ id }] = json.values.messages[1].tool_calls;
  const result = { role: "tool", content: "mine", tool_call_id: id };
  const { messages } = await say(threadId, { input: { messages: [result, { role: "user", content: "there" }] } });
  expect(roles(messages)).toEqual(["human", "ai", "mine", "human", "ai"]);
});

test("answers a branch from an earlier checkpoint with a stopped call", async () => {
  const threadId = await newThread();
  await cancelled(threadId, "use slow");
  const { json } = await server.call("GET", `/threads/${threadId}/state`);
  await say(threadId, human("one way"));
  const { messages } = await say(threadId, { ...human("another"), checkpoint_id: json.checkpoint.checkpoint_id });
  expect(roles(messages)).toEqual(["human", "ai", STOPPED, "human", "ai"]);
});

test("HEDDLE_ANSWER_TOOL_CALLS=false leaves messages unchanged", async () => {
  const other = await testAgentServer({ HEDDLE_ANSWER_TOOL_CALLS: "false" }, QUESTIONS_PROJECT);
  const threadId = await newThread(other);
  await cancelled(threadId, "use slow", 0, other);
  expect((await say(threadId, human("never mind"), other)).__error__?.message).toMatch(/tool calls without a result/);
});
