/** Agents of langchain (`createAgent`, `create_agent`) and deepagents, where the project's environment has them. */
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { Client } from "langgraph-sdk-v1";
import { afterAll, describe, expect, test } from "vitest";

import { collect, eventData } from "./frames.ts";
import { isPython, projectDirectory, startOwnProject } from "./server.ts";
import { startTraceReceiver } from "./trace-receiver.ts";

type Messages = { messages: { type: string; content: string }[] };
/** Python's name of the field, and JavaScript's. */
type Approval = Record<"action_requests" | "actionRequests", { name: string; args: object }[] | undefined>;

const directory = projectDirectory("agents");

function isInstalled(name: string): boolean {
  if (isPython) return spawnSync(process.env["HEDDLE_PYTHON"] ?? "python3", ["-c", `import ${name}`]).status === 0;
  try {
    createRequire(resolve(directory, "agents.ts")).resolve(name);
    return true;
  } catch {
    return false;
  }
}

const hasAgents = isInstalled(isPython ? "langchain.agents.middleware" : "langchain");
const hasDeepAgents = isPython && hasAgents && isInstalled("deepagents");

const traces = await startTraceReceiver();
afterAll(() => traces.close());
const server = hasAgents ? await startOwnProject("agents", { HEDDLE_TRACING_URL: traces.url }) : undefined;
afterAll(() => server?.stop());
const client = new Client({ apiUrl: server?.url ?? "", apiKey: null, callerOptions: { maxRetries: 0 } });

const ask = (content: string) => ({ input: { messages: [{ role: "user", content }] } });

describe.runIf(hasAgents)("an agent of langchain", () => {
  const requests = (value: unknown) => {
    const { action_requests: python, actionRequests: javascript } = value as Approval;
    return (python ?? javascript)!;
  };
  const editedTo = (city: string) => {
    const action = { name: "get_weather", args: { city } };
    return { type: "edit", edited_action: action, editedAction: action };
  };
  const types = ({ messages }: Messages) => messages.map(({ type }) => type);

  test("streams its tokens, and keeps the state of a middleware", async () => {
    const options = { ...ask("weather in Rome"), streamMode: ["messages", "values"] as ("messages" | "values")[] };
    const frames = await collect(client.runs.stream(null, "agent", options));
    const values = eventData(frames, "values").at(-1) as Messages & { calls: number };
    expect(types(values)).toEqual(["human", "ai", "tool", "ai"]);
    expect(values).toMatchObject({ calls: 2, messages: { 3: { content: "The tool says: sunny in Rome" } } });
    const partial = eventData(frames, "messages/partial").map(([{ content }]) => content as string);
    expect(new Set(partial).size).toBeGreaterThan(3);
  });

  test("asks a human before it calls a tool, and calls it with the edited arguments", async () => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "guarded", ask("weather in Rome"));
    const [interrupt] = (await client.threads.getState(thread_id)).tasks.flatMap(({ interrupts }) => interrupts);
    expect(requests(interrupt!.value)).toMatchObject([{ name: "get_weather", args: { city: "Rome" } }]);
    const resume = { [interrupt!.id!]: { decisions: [editedTo("Oslo")] } };
    const values = (await client.runs.wait(thread_id, "guarded", { command: { resume } })) as unknown as Messages;
    expect(values.messages.at(-1)!.content).toContain("sunny in Oslo");
    const next = (await client.runs.wait(thread_id, "guarded", ask("thanks"))) as unknown as Messages;
    expect(next.messages.at(-1)!.content).toBe("You said: thanks");
  });

  test("asks once for several parallel calls, with a decision for each", async () => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "guarded", ask("weather in Rome and weather in Oslo"));
    const [interrupt] = (await client.threads.getState(thread_id)).tasks.flatMap(({ interrupts }) => interrupts);
    expect(requests(interrupt!.value).map(({ args }) => args)).toEqual([{ city: "Rome" }, { city: "Oslo" }]);
    const resume = { [interrupt!.id!]: { decisions: [{ type: "approve" }, editedTo("Bern")] } };
    const values = (await client.runs.wait(thread_id, "guarded", { command: { resume } })) as unknown as Messages;
    const results = values.messages.filter(({ type }) => type === "tool").map(({ content }) => content);
    // Python adds a note about the edit
    expect(results.toSorted().map((text) => text.split("\n").at(-1))).toEqual(["sunny in Bern", "sunny in Rome"]);
  });

  test("has schemas that contain its messages", async () => {
    const { input_schema: schema } = await client.assistants.getSchemas("guarded");
    expect(Object.keys(schema!.properties!)).toContain("messages");
  });
});

describe.runIf(hasDeepAgents)("an agent of deepagents", () => {
  test("keeps its plan and its files in the state", async () => {
    const { thread_id } = await client.threads.create();
    const planned = await client.runs.wait(thread_id, "deep", ask("plan the trip"));
    expect(planned).toMatchObject({ todos: [{ content: "the trip", status: "pending" }] });
    await client.runs.wait(thread_id, "deep", ask("write notes"));
    const { files } = (await client.threads.getState<{ files: object }>(thread_id)).values;
    expect(Object.keys(files)).toEqual(["/notes.md"]);
    const read = (await client.runs.wait(thread_id, "deep", ask("read notes"))) as unknown as Messages;
    expect(read.messages.at(-1)!.content).toContain("remember the milk");
  });

  test("streams the tokens of a subagent in its namespace, and traces its call", async () => {
    const { thread_id } = await client.threads.create();
    const options = {
      ...ask("delegate weather in Rome"),
      streamMode: "messages-tuple" as const,
      streamSubgraphs: true,
    };
    const frames = await collect(client.runs.stream(thread_id, "deep", options));
    const tokens = frames.filter(({ event }) => event.startsWith("messages|")).map(({ data }) => data[0].content);
    expect(tokens.join("")).toContain("sunny in Rome");
    const { messages } = (await client.threads.getState<Messages>(thread_id)).values;
    expect(messages.at(-1)!.content).toContain("sunny in Rome");
    const [run] = await client.runs.list(thread_id, { limit: 1 });
    await traces.ended(run!.run_id);
    expect(traces.spans(run!.run_id)).toContain("task");
  });

  test("shares the files of its store between threads", async () => {
    await client.runs.wait(null, "deep", ask("keep secret"));
    const kept = (await client.runs.wait(null, "deep", ask("recall secret"))) as unknown as Messages;
    expect(kept.messages.at(-1)!.content).toContain("remember the milk");
  });
});
