import { randomUUID } from "node:crypto";

import { afterAll, expect, test, vi } from "vitest";

import { EventReader } from "../../server/test/protocol-client.ts";
import { newInstallation, ServerProcess } from "./server-process.ts";

const installation = newInstallation();
const server = await ServerProcess.create(installation);
afterAll(async () => {
  await server.stop();
  installation.remove();
});

const CHANNELS = ["values", "updates", "lifecycle", "tasks", "checkpoints"];
const isEnd = ({ method, params }: { method: string; params: { namespace: string[]; data: { event: string } } }) =>
  method === "lifecycle" && params.namespace.length === 0 && !["running", "incomplete"].includes(params.data.event);

test("events that a client received keep their numbers after a kill, and the run continues to its end", async () => {
  await server.start();
  const thread = randomUUID();
  const reader = await EventReader.open(server.url, thread, { channels: CHANNELS });
  const response = await fetch(`${server.url}/threads/${thread}/commands`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      id: 1,
      method: "run.start",
      params: { assistant_id: "steps", input: { steps: 12, pause: 150 } },
    }),
  });
  expect(await response.json()).toMatchObject({ type: "success" });
  await vi.waitUntil(() => reader.events.length > 12, { timeout: 20_000, interval: 5 });
  await server.kill();
  await new Promise((resolve) => setTimeout(resolve, 100));
  const { text } = reader;
  const received = reader.events.length;
  expect(reader.events.some(isEnd)).toBe(false);

  await server.start();
  const whole = await EventReader.open(server.url, thread, { channels: CHANNELS });
  await vi.waitUntil(() => whole.events.some(isEnd), { timeout: 60_000, interval: 20 });
  expect(whole.text.startsWith(text)).toBe(true);
  expect(whole.events.map(({ seq }) => seq)).toEqual(whole.events.map((_, i) => i + 1));
  expect(whole.events.filter(isEnd).map(({ params }) => params.data.event)).toEqual(["completed"]);
  const back = await EventReader.open(server.url, thread, { channels: CHANNELS, since: received });
  await vi.waitUntil(() => back.events.some(isEnd), { timeout: 20_000 });
  expect(text + back.text).toBe(whole.text);
  for (const stream of [reader, whole, back]) stream.close();
});
