import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test, vi } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { startAgentServer } from "../../main.ts";

const config = fileURLToPath(new URL("../../../test/fixtures/agent-project/langgraph.json", import.meta.url));
const db = await testDatabase();
const dataDir = mkdtempSync(join(tmpdir(), "heddle-follow-"));
vi.stubEnv("HEDDLE_HOSTS", "1");
const database = { uri: db.uri, socket: db.options.host ?? null };
const start = (name: string) =>
  startAgentServer({ config, host: "127.0.0.1", port: 0, dataDir: join(dataDir, name), database, reload: false });
const [owner, other] = [await start("owner"), await start("other")];
await owner.graphs;
afterAll(async () => {
  await Promise.all([owner.close(), other.close()]);
  rmSync(dataDir, { recursive: true, force: true });
  vi.unstubAllEnvs();
});

const post = (url: string, path: string, body: unknown) =>
  fetch(url + path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

const splitFrames = (text: string) => text.split(/\r?\n\r?\n/).filter((frame) => frame.includes("event:"));

test("a server that does not execute a run forwards all of its frames, from a reader's last position", async () => {
  const { thread_id } = (await (await post(owner.url, "/threads", {})).json()) as { thread_id: string };
  const body = { assistant_id: "slow", input: { log: ["a"] }, stream_mode: ["values", "updates"] };
  const { run_id } = (await (await post(owner.url, `/threads/${thread_id}/runs`, body)).json()) as { run_id: string };
  const path = `/threads/${thread_id}/runs/${run_id}/stream`;
  const status = async () =>
    (await (await fetch(owner.url + path.replace("/stream", ""))).json()) as { status: string };
  await vi.waitUntil(async () => (await status()).status === "running", { timeout: 30_000 });
  const readers = [
    fetch(owner.url + path),
    fetch(other.url + path),
    fetch(other.url + path, { headers: { "Last-Event-ID": "0" } }),
  ];
  const responses = await Promise.all(readers);
  await sleep(300);
  await post(other.url, path.replace("/stream", "/cancel"), {});
  const [direct, passedOn, later] = await Promise.all(
    responses.map(async (response) => splitFrames(await response.text())),
  );
  expect(direct!.map((frame) => /event: ?(\w+)/.exec(frame)![1])).toEqual(["metadata", "values"]);
  expect(passedOn).toEqual(direct);
  expect(later).toEqual(direct!.slice(1));
});

test("a cancellation through another server ends its readers there when the run has ended", async () => {
  const { thread_id } = (await (await post(owner.url, "/threads", {})).json()) as { thread_id: string };
  const body = { assistant_id: "slow", input: { log: ["a"] }, stream_mode: ["values"], stream_resumable: true };
  const { run_id } = (await (await post(owner.url, `/threads/${thread_id}/runs`, body)).json()) as { run_id: string };
  const status = async () =>
    (await db.sql<{ status: string }[]>`select status from runs where run_id = ${run_id}`)[0]!.status;
  await vi.waitUntil(async () => (await status()) === "running", { timeout: 30_000 });
  const path = `/threads/${thread_id}/runs/${run_id}`;
  const reader = fetch(`${other.url}${path}/stream`).then(async (response) => {
    await response.text();
    return status();
  });
  await sleep(300);
  // slows down the end
  await db.sql`
    create function wait_a_second() returns trigger language plpgsql as $$ begin perform pg_sleep(1); return new; end $$`;
  await db.sql`
    create trigger slow_end before update on runs for each row
    when (old.status = 'running' and new.status = 'interrupted') execute function wait_a_second()`;
  await post(other.url, `${path}/cancel?wait=true`, {});
  expect(await status()).toBe("interrupted");
  expect(await reader).toBe("interrupted");
  await db.sql`drop trigger slow_end on runs`;
});
