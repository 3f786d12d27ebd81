import { expect, test, vi } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { testDatabase } from "../../../test/db.ts";
import { EventReader, listenAgent } from "../../../test/protocol-client.ts";
import { uuid7 } from "../../base/ids.ts";

const CHANNELS = ["values", "updates", "lifecycle", "input", "checkpoints", "tasks", "custom"];
const isEnd = ({ method, params }: { method: string; params: { namespace: string[]; data: { event: string } } }) =>
  method === "lifecycle" && params.namespace.length === 0 && !["running", "incomplete"].includes(params.data.event);

const ends = (reader: EventReader, count: number) =>
  vi.waitUntil(() => reader.events.filter(isEnd).length === count, { timeout: 30_000, interval: 10 });

test("events are the same on another server and after a restart, and a missing end is added", async () => {
  const db = await testDatabase();
  const servers = [await testAgentServer({}, undefined, { db }), await testAgentServer({}, undefined, { db })] as const;
  const urls = [(await listenAgent(servers[0])).url, (await listenAgent(servers[1])).url] as const;
  // until each server has seen the other
  await vi.waitUntil(() => db.sql`select 1 from servers`.then((rows) => rows.length === 2), { timeout: 30_000 });
  const thread = uuid7();
  const readers = await Promise.all(urls.map((url) => EventReader.open(url, thread, { channels: CHANNELS })));
  const command = (at: 0 | 1, method: string, params: object) =>
    servers[at].call("POST", `/threads/${thread}/commands`, { id: 1, method, params });
  expect((await command(0, "run.start", { assistant_id: "nested", input: { topic: "a" } })).json.type).toBe("success");
  await Promise.all(readers.map((reader) => ends(reader, 1)));
  // answered on the other server
  expect((await command(1, "run.start", { assistant_id: "nested", input: "yes" })).json.type).toBe("success");
  await Promise.all(readers.map((reader) => ends(reader, 2)));
  expect(readers[0]!.text).toBe(readers[1]!.text);
  const { text, events } = readers[0]!;
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));

  // a run that ended without its last event, as after a crash in between
  const runId = uuid7();
  await db.sql`insert into runs (run_id, thread_id, assistant_id, status, kwargs, attempt, server_id, ended_at)
               select ${runId}, ${thread}, assistant_id, 'error', '{"protocol": "v2"}', 1, ${uuid7()}, now()
               from runs where thread_id = ${thread} limit 1`;
  await ends(readers[1]!, 3);
  expect(readers[1]!.events.slice(-2)).toMatchObject([
    { params: { data: { event: "incomplete", run_id: runId } } },
    { params: { data: { event: "failed", error: "error" } } },
  ]);

  await Promise.all(servers.map((server) => server.stop()));
  await vi.waitUntil(() => readers.every((reader) => reader.ended), { timeout: 20_000 });
  const after = await testAgentServer({}, undefined, { db });
  const { url } = await listenAgent(after);
  const late = await EventReader.open(url, thread, { channels: CHANNELS });
  await ends(late, 3);
  expect(late.text.startsWith(text)).toBe(true);
  expect(late.text).toBe(readers[1]!.text);
  late.close();
});
