import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { afterAll, expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { testDatabase } from "../../../test/db.ts";
import { splitFrames, sseFrame } from "../../base/events/sse.ts";
import { endAbandonedStream } from "../streams/end-abandoned-stream.ts";
import { selectSegments, selectUnendedStreams } from "../streams/sql.ts";

// a foreign platform: accepts every trace and issues links
const platform = createServer((request, response) => {
  let text = "";
  request.on("data", (chunk: Buffer) => (text += chunk.toString()));
  request.on("end", () => {
    const isTokens = request.url === "/feedback/tokens";
    const keys = isTokens ? (JSON.parse(text) as { feedback_key: string }[]).map((entry) => entry.feedback_key) : [];
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify(isTokens ? keys.map((key) => ({ url: `https://t/${key}`, feedback_key: key })) : {}));
  });
}).listen(0, "127.0.0.1");
await once(platform, "listening");
afterAll(() => {
  platform.closeAllConnections();
  platform.close();
});

const env = { HEDDLE_TRACING_URL: `http://127.0.0.1:${(platform.address() as AddressInfo).port}` };
const db = await testDatabase();
const replica = await testAgentServer(env, undefined, { db });
const other = await testAgentServer(env, undefined, { db });
const links = { thumbs: "https://t/thumbs" };
const body = { assistant_id: "trail", input: { topic: "x" }, feedback_keys: ["thumbs"] };

test("readers on another server receive the links, in stream and result", async () => {
  const { thread_id: id } = (await replica.call("POST", "/threads", {})).json;
  const { run_id: runId } = (await replica.call("POST", `/threads/${id}/runs`, { ...body, stream_resumable: true }))
    .json;
  const path = `/threads/${id}/runs/${runId}`;
  const [streamed, joined] = await Promise.all([
    other.call("GET", `${path}/stream`),
    other.call("GET", `${path}/join`),
  ]);
  expect(splitFrames(Buffer.from(streamed.text)).at(-1)?.name).toBe("feedback");
  expect(joined.json.__feedback__).toEqual(links);
  expect((await other.call("GET", `${path}/join`)).json.__feedback__).toEqual(links);
  const again = await replica.call("GET", `${path}/stream`);
  expect(again.text).toBe(streamed.text.replaceAll(": heartbeat\n\n", ""));
});

test("a rolled back run has no links", async () => {
  const { thread_id: id } = (await replica.call("POST", "/threads", {})).json;
  const { run_id: runId } = (await replica.call("POST", `/threads/${id}/runs`, { ...body, assistant_id: "slow" })).json;
  const reading = replica.call("GET", `/threads/${id}/runs/${runId}/stream`);
  await replica.call("POST", `/threads/${id}/runs/${runId}/cancel?action=rollback&wait=1`);
  expect((await reading).text).not.toContain("event: feedback");
});

test("a stream whose writer died before the links ends with them, once", async () => {
  const { thread_id: id } = (await replica.call("POST", "/threads", {})).json;
  await replica.call("POST", `/threads/${id}/runs/wait`, body);
  const [{ run_id: runId }] = (await replica.call("GET", `/threads/${id}/runs`)).json;
  await db.sql`delete from run_streams where run_id = ${runId}`;
  await db.sql`delete from run_stream_segments where run_id = ${runId}`;
  const frames = sseFrame(0, "metadata", "{}").toString();
  await db.sql`insert into run_streams (run_id, thread_id, ordinal, attempt, frames) values (${runId}, ${id}, 1, 1, 1)`;
  await db.sql`insert into run_stream_segments (run_id, first, frames) values (${runId}, 0, ${frames})`;
  const [stream] = await selectUnendedStreams(db.sql, runId);
  for (let i = 0; i < 2; i++) await endAbandonedStream(db.sql, stream!);
  const keptFrames = (await selectSegments(db.sql, runId, 0)).map((segment) => segment.frames).join("");
  expect(splitFrames(Buffer.from(keptFrames)).map(({ name }) => name)).toEqual(["metadata", "incomplete", "feedback"]);
});
