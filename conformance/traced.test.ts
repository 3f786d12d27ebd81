/** Runs of a server that traces them. */
import { Client } from "langgraph-sdk-v1";
import { afterAll, expect, test } from "vitest";

import { startOwnProject } from "./server.ts";
import { startTraceReceiver } from "./trace-receiver.ts";

const traces = await startTraceReceiver();
afterAll(() => traces.close());
const server = await startOwnProject("project", { HEDDLE_TRACING_URL: traces.url });
afterAll(() => server.stop());
const client = new Client({ apiUrl: server.url, apiKey: null, callerOptions: { maxRetries: 0 } });

test("a run is a trace with its outputs, its model and its tools", async () => {
  const { thread_id } = await client.threads.create();
  const input = { messages: [{ role: "user", content: "weather in Rome" }] };
  const { run_id } = await client.runs.create(thread_id, "agent", { input });
  await client.runs.join(thread_id, run_id);
  const { outputs } = await traces.ended(run_id);
  expect((outputs as { messages: unknown[] }).messages).toHaveLength(4);
  expect(JSON.stringify(outputs)).toContain("The tool says: sunny in Rome");
  expect(traces.spans(run_id)).toEqual(expect.arrayContaining(["RuleModel", "get_weather"]));
});

test("the trace of an interrupted run has ended, and its resume is another one", async () => {
  const { thread_id } = await client.threads.create();
  const first = await client.runs.create(thread_id, "approval", { input: { topic: "tea" } });
  await client.runs.join(thread_id, first.run_id);
  await traces.ended(first.run_id);
  const second = await client.runs.create(thread_id, "approval", { command: { resume: "yes" } });
  await client.runs.join(thread_id, second.run_id);
  expect((await traces.ended(second.run_id)).outputs).toMatchObject({ answer: "yes" });
  expect(traces.spans(second.run_id)).toContain("publish");
});
