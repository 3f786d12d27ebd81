/** Webhooks and crons of a killed server: between a run's end and its delivery, around a cron occurrence. */
import { setTimeout as sleep } from "node:timers/promises";

import postgres from "postgres";
import { afterAll, afterEach, expect, test, vi } from "vitest";

import { receiver } from "../../server/test/receiver.ts";
import { newInstallation, ServerProcess } from "./server-process.ts";

const installation = newInstallation();
const server = await ServerProcess.create(installation, {
  HEDDLE_HOSTS: "1",
  HEDDLE_WEBHOOK_TIMEOUT_MS: "500",
  HEDDLE_WEBHOOK_RETRY_MS: "200",
});
afterEach(() => server.stop());
afterAll(() => installation.remove());

async function post<T>(path: string, body: object): Promise<T | undefined> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) }).catch(
    () => null,
  );
  return answer?.ok ? ((await answer.json()) as T) : undefined;
}
const run = (webhook: string) => ({ assistant_id: "echo", input: { text: "hello" }, webhook });
const dies = async () => expect(await Promise.race([server.exited, sleep(30_000, "alive")])).toBe("SIGKILL");

test.each(["before-final-status:1", "before-webhook:2", "after-webhook:1"])(
  "a server killed at %s still delivers the webhook of every run, each with one id",
  async (point) => {
    const hook = await receiver();
    await server.start({ HEDDLE_FAULT_POINTS: point });
    const accepted: string[] = [];
    const thread = await post<{ thread_id: string }>("/threads", {});
    for (let n = 0; n < 4; n++) {
      const path = n % 2 === 0 ? "/runs" : `/threads/${thread!.thread_id}/runs`;
      const created = await post<{ run_id: string }>(path, run(`${hook.url}/${n}?token=t`));
      if (created) accepted.push(created.run_id);
    }
    expect(accepted.length).toBeGreaterThan(0);
    await dies();
    await server.start();
    // lease of a delivery in progress: the time limit plus five seconds
    await vi.waitFor(
      () => {
        const delivered = new Set(hook.received.map((message) => message.json.run_id as string));
        expect(accepted.filter((id) => !delivered.has(id))).toEqual([]);
      },
      { timeout: 25_000, interval: 100 },
    );
    const ids = new Map<string, Set<unknown>>();
    for (const { json, headers } of hook.received) {
      expect(json).toMatchObject({ status: "success", run_ended_at: expect.any(String) });
      const known = ids.get(json.run_id as string) ?? new Set();
      ids.set(json.run_id as string, known.add(headers["webhook-id"]));
    }
    for (const known of ids.values()) expect(known.size).toBe(1);
  },
);

test("a server killed before, during and after it starts runs of crons starts each once", async () => {
  await server.start();
  const crons: string[] = [];
  const body = { assistant_id: "echo", input: { text: "hello" }, schedule: "0 0 1 1 *", on_run_completed: "keep" };
  for (let n = 0; n < 12; n++) crons.push((await post<{ cron_id: string }>("/runs/crons", body))!.cron_id);
  const sql = postgres(server.databaseUri(), { max: 1, onnotice: () => {} });
  await sql`update crons set next_run_date = now() + interval '3 seconds'`;
  await sql.end();
  await server.stop();
  for (const point of ["before-cron:2", "after-cron:2"]) {
    // it may die before it answers
    server.spawn({ HEDDLE_FAULT_POINTS: point });
    await dies();
  }
  await server.start();
  const again = postgres(server.databaseUri(), { max: 1, onnotice: () => {} });
  await vi.waitFor(
    async () => {
      const rows = await again`select 1 from runs where status = 'success' and metadata ? 'cron_id'`;
      expect(rows.length).toBeGreaterThanOrEqual(crons.length);
    },
    { timeout: 20_000, interval: 100 },
  );
  await sleep(500);
  const rows = await again<{ cron: string; n: number }[]>`
    select metadata ->> 'cron_id' as cron, count(*)::int as n from runs where metadata ? 'cron_id' group by 1`;
  await again.end();
  expect(Object.fromEntries(rows.map(({ cron, n }) => [cron, n]))).toEqual(
    Object.fromEntries(crons.map((id) => [id, 1])),
  );
});

test.each(["before-wait:1", "after-wait:1"])("a server killed at %s resumes a waiting thread once", async (point) => {
  await server.start({ HEDDLE_FAULT_POINTS: point });
  const path = `/threads/${(await post<{ thread_id: string }>("/threads", {}))!.thread_id}`;
  await post(`${path}/signals/paid`, { payload: { amount: 1 }, key: "k" });
  await post(`${path}/runs`, { assistant_id: "order", input: { log: [] } });
  await dies();
  await server.start();
  await post(`${path}/signals/paid`, { payload: { amount: 2 }, key: "k" });
  const get = async (of: string) => (await fetch(server.url + of)).json() as Promise<never>;
  await vi.waitFor(
    async () => {
      const { values } = (await get(path)) as { values: { log: string[] } };
      expect(values.log).toEqual(["invoice", "paid 1", "parcel"]);
    },
    { timeout: 20_000, interval: 100 },
  );
  expect(await get(`${path}/runs`)).toHaveLength(2);
});
