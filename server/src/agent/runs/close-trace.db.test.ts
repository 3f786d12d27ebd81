import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { afterAll, expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { testDatabase } from "../../../test/db.ts";
import { uuid7 } from "../../base/ids.ts";

/** A trace endpoint that records its requests. */
const received: string[] = [];
const traces = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    received.push(Buffer.concat(chunks).toString());
    response.writeHead(202, { "content-type": "application/json" }).end("{}");
  });
}).listen(0, "127.0.0.1");
await once(traces, "listening");
afterAll(() => {
  traces.closeAllConnections();
  traces.close();
});

const db = await testDatabase();
const { call, sql } = await testAgentServer(
  { HEDDLE_TRACING_URL: `http://127.0.0.1:${(traces.address() as AddressInfo).port}` },
  undefined,
  { db },
);

/** A run whose server was lost in its first attempt. */
async function lostRun(status: string, more: { cancel_action?: string; attempt?: number } = {}): Promise<string[]> {
  const { thread_id } = (await call("POST", "/threads", {})).json;
  const { run_id } = (
    await call("POST", `/threads/${thread_id}/runs`, {
      assistant_id: "trail",
      input: { of: "the lost" },
      after_seconds: 600,
    })
  ).json;
  const { cancel_action = null, attempt = 1 } = more;
  // the pause of a retry is under 5 s: one that lies further ahead is claimed at once (claim_runs)
  await sql`
    update runs set status = ${status}, attempt = ${attempt}, cancel_action = ${cancel_action}, started_at = now(),
      available_at = now() + interval '4.5 s', server_id = ${uuid7()} where run_id = ${run_id}`;
  if (status === "running") await sql`update threads set running_run_id = ${run_id} where thread_id = ${thread_id}`;
  return [thread_id, run_id];
}

const ends = (runId: string) =>
  received.filter((text) => text.includes(runId) && text.includes('"end_time"')).join("\n");

test("closes the trace of a run that was being cancelled when its server was lost", async () => {
  const [, runId] = await lostRun("running", { cancel_action: "interrupt" });
  await expect.poll(() => ends(runId!), { timeout: 30_000 }).toContain("lost while it was being cancelled");
  expect(ends(runId!)).toContain("the lost");
});

test("closes the trace of a run that was lost too often", async () => {
  const [threadId, runId] = await lostRun("running", { attempt: 25 });
  await expect.poll(() => ends(runId!), { timeout: 30_000 }).toContain("lost too often");
  expect((await call("GET", `/threads/${threadId}/runs/${runId}`)).json.status).toBe("error");
});

test("closes the trace of a run cancelled between attempts, and opens none for a run without attempts", async () => {
  const [threadId, runId] = await lostRun("pending");
  expect((await call("POST", `/threads/${threadId}/runs/${runId}/cancel?wait=false`)).status).toBeLessThan(300);
  await expect.poll(() => ends(runId!), { timeout: 30_000 }).toContain("cancelled by the caller");
  const [otherThread, other] = await lostRun("pending", { attempt: 0 });
  await call("POST", `/threads/${otherThread}/runs/${other}/cancel?wait=false`);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(received.filter((text) => text.includes(other!))).toEqual([]);
});
