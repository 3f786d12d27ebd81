import { randomUUID } from "node:crypto";
import { ClientFactory as FactoryV0 } from "a2a-sdk-v0/client";
import { ClientFactory as FactoryV1, DefaultAgentCardResolver } from "a2a-sdk-v1/client";
import { Role, TaskState } from "a2a-sdk-v1";
import { describe, expect, test } from "vitest";
import { url } from "./clients.ts";
import { has } from "./features.ts";

const cardPath = (assistant: string) => `/.well-known/agent-card.json?assistant_id=${assistant}`;

describe("A2A 0.3", () => {
  const connect = (assistant: string) => new FactoryV0().createFromUrl(url, cardPath(assistant));
  const say = (text: string, more: object = {}) => ({
    message: {
      kind: "message" as const,
      role: "user" as const,
      messageId: randomUUID(),
      parts: [{ kind: "text" as const, text }],
      ...more,
    },
  });
  // oxlint-disable-next-line typescript/no-explicit-any -- a task or a message; here always a task
  type Task = any;

  test("the card names the assistant and its URL", async () => {
    const client = await connect("agent");
    const card = await client.getAgentCard();
    expect(card).toMatchObject({ name: "agent", capabilities: { streaming: true }, preferredTransport: "JSONRPC" });
    expect(card.defaultInputModes).toEqual(["text/plain", "application/json"]);
    expect(card.url).toMatch(new RegExp(`^${url}/a2a/[0-9a-f-]{36}$`));
  });

  test("a message becomes a task with the answer, and a second message continues the context", async () => {
    const client = await connect("agent");
    const first: Task = await client.sendMessage(say("weather in Oslo"));
    expect(first).toMatchObject({ kind: "task", status: { state: "completed" } });
    expect(first.artifacts).toMatchObject([
      { name: "Assistant Response", parts: [{ kind: "text", text: "The tool says: sunny in Oslo" }] },
    ]);
    const { contextId } = first;
    const second: Task = await client.sendMessage(say("hello", { contextId }));
    expect(second).toMatchObject({ contextId, artifacts: [{ parts: [{ text: "You said: hello" }] }] });
    expect(second.id).not.toBe(first.id);
    const whole: Task = await client.getTask({ id: second.id, historyLength: 10 });
    expect(whole.history.map((message: Task) => [message.role, message.parts[0].text])).toEqual([
      ["user", "weather in Oslo"],
      ["agent", "The tool says: sunny in Oslo"],
      ["user", "hello"],
      ["agent", "You said: hello"],
    ]);
    expect((await client.getTask({ id: first.id })).artifacts).toEqual(first.artifacts);
  });

  test("a stream carries the answer in chunks as it is generated", async () => {
    const client = await connect("agent");
    const events: Task[] = [];
    for await (const event of client.sendMessageStream(say("one two three"))) events.push(event);
    expect(events[0]).toMatchObject({ kind: "task", status: { state: "submitted" } });
    expect(events[1]).toMatchObject({ kind: "status-update", status: { state: "working" }, final: false });
    const artifactUpdates = events.filter(({ kind, lastChunk }) => kind === "artifact-update" && !lastChunk);
    expect(artifactUpdates.map(({ artifact }) => artifact.parts[0].text).join("")).toBe("You said: one two three");
    expect(events.at(-2)).toMatchObject({
      lastChunk: true,
      artifact: { parts: [{ text: "You said: one two three" }] },
    });
    expect(events.at(-1)).toMatchObject({ kind: "status-update", status: { state: "completed" }, final: true });
  });

  test.runIf(has("interrupt ids"))("a task requests input and accepts the answer under its own id", async () => {
    const client = await connect("approval");
    const parts = [{ kind: "data" as const, data: { topic: "tea" } }];
    const asked: Task = await client.sendMessage(say("", { parts }));
    expect(asked.status).toMatchObject({
      state: "input-required",
      message: {
        role: "agent",
        parts: [{ kind: "data", data: { interrupts: [{ value: { question: "Publish tea?" } }] } }],
      },
    });
    const { id: taskId, contextId } = asked;
    const done: Task = await client.sendMessage(say("yes", { taskId, contextId }));
    expect(done).toMatchObject({ id: taskId, contextId, status: { state: "completed" } });
    expect(done.artifacts[0].parts[0].data).toMatchObject({ answer: "yes", log: ["draft:tea", "asked", "published"] });
    await expect(client.sendMessage(say("again", { taskId, contextId }))).rejects.toThrow("not supported");
  });

  test("a running task can be cancelled, a cancelled or unknown one cannot", async () => {
    const client = await connect("slow");
    const parts = [{ kind: "data" as const, data: { ms: 20_000 } }];
    const begun: Task = await client.sendMessage({ ...say("", { parts }), configuration: { blocking: false } });
    expect(["submitted", "working"]).toContain(begun.status.state);
    expect(await client.cancelTask({ id: begun.id })).toMatchObject({ id: begun.id, status: { state: "canceled" } });
    await expect(client.cancelTask({ id: begun.id })).rejects.toThrow("cannot be canceled");
    await expect(client.getTask({ id: randomUUID() })).rejects.toThrow("not found");
  });
});

describe("A2A 1.0", () => {
  const connect = async (assistant: string) => {
    const card = await new DefaultAgentCardResolver().resolve(url, cardPath(assistant));
    return new FactoryV1().createFromAgentCard(card);
  };
  const say = (content: object, more: object = {}) =>
    ({
      tenant: "",
      message: {
        role: Role.ROLE_USER,
        messageId: randomUUID(),
        contextId: "",
        taskId: "",
        parts: [{ content, metadata: undefined, filename: "", mediaType: "" }],
        metadata: undefined,
        extensions: [],
        referenceTaskIds: [],
        ...more,
      },
      configuration: undefined,
      metadata: undefined,
    }) as never;
  // oxlint-disable-next-line typescript/no-explicit-any -- a task or a message; here always a task
  type Task = any;

  test("sends a message, gets its task and lists the tasks of its context", async () => {
    const client = await connect("agent");
    const sent: Task = await client.sendMessage(say({ $case: "text", value: "hello" }));
    const task = sent.payload?.value ?? sent;
    expect(task.status.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(task.artifacts[0].parts[0].content).toEqual({ $case: "text", value: "You said: hello" });
    const got: Task = await client.getTask({ tenant: "", id: task.id, historyLength: 10 });
    expect(got.history.map((message: Task) => message.role)).toEqual([Role.ROLE_USER, Role.ROLE_AGENT]);
    const request = {
      tenant: "",
      contextId: task.contextId,
      status: 0,
      pageToken: "",
      statusTimestampAfter: undefined,
    };
    const { tasks } = await client.listTasks(request as never);
    expect(tasks.map(({ id }) => id)).toEqual([task.id]);
  });

  test.runIf(has("interrupt ids"))("streams a task that requests input, and the answer to it", async () => {
    const client = await connect("approval");
    const read = async (message: never) => {
      const events: Task[] = [];
      for await (const event of client.sendMessageStream(message)) events.push((event as Task).payload ?? event);
      return events;
    };
    const asked = await read(say({ $case: "data", value: { topic: "tea" } }));
    expect(asked[0].$case).toBe("task");
    const { taskId, contextId, status } = asked.at(-1).value;
    expect([asked.at(-1).$case, status.state]).toEqual(["statusUpdate", TaskState.TASK_STATE_INPUT_REQUIRED]);
    const done = await read(say({ $case: "text", value: "no" }, { taskId, contextId }));
    expect(done.at(-1).value).toMatchObject({ taskId, status: { state: TaskState.TASK_STATE_COMPLETED } });
    const artifact = done.find(({ $case }) => $case === "artifactUpdate").value.artifact;
    expect(artifact.parts[0].content.value).toMatchObject({ answer: "no", log: ["draft:tea", "asked", "dropped"] });
  });
});
