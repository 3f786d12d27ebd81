import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { fakeClock } from "./fake-clock.ts";
import { Ledger } from "./ledger.ts";
import { LoadClient } from "./load-client.ts";
import { newInstallation, ServerProcess } from "./server-process.ts";

interface State {
  values: { labels: number[] };
  checkpoint: { checkpoint_id: string };
}

const upTo = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

async function newThread(client: LoadClient): Promise<string> {
  return (await client.request<{ thread_id: string }>("POST", "/threads", {})).thread_id;
}

/** Runs the counter to its end, and returns the labels of all runs of the thread from its result. */
async function count(client: LoadClient, threadId: string, label: number): Promise<number[]> {
  const body = { assistant_id: "counter", input: { label } };
  return (await client.patiently<{ labels: number[] }>("POST", `/threads/${threadId}/runs/wait`, body)).labels;
}

async function expectLabels(client: LoadClient, threadId: string, count: number): Promise<void> {
  const state = await client.request<State>("GET", `/threads/${threadId}/state`);
  const [newest] = await client.request<State[]>("GET", `/threads/${threadId}/history?limit=1`);
  expect(state.values.labels).toEqual(upTo(count));
  expect(newest!.checkpoint.checkpoint_id).toBe(state.checkpoint.checkpoint_id);
}

describe("servers whose clocks differ", () => {
  const THREADS = 24;
  const RUNS = 6;
  const installation = newInstallation();
  const servers: ServerProcess[] = [];
  const clients: LoadClient[] = [];

  beforeAll(async () => {
    for (const env of [{}, fakeClock({ by: "+0.4s" }), fakeClock({ by: "+3s" })]) {
      const server = await ServerProcess.create(installation, env);
      await server.start();
      servers.push(server);
      clients.push(new LoadClient(server.url, new Ledger()));
    }
    const sql = postgres(servers[0]!.databaseUri(), { max: 1, onnotice: () => {} });
    const able = () => sql`select 1 from servers where 'counter' = any (graphs)`;
    while ((await able()).length < servers.length) await sleep(100);
    await sql.end();
  });
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
    // the first server started Postgres, and stops it
    for (const server of servers.toReversed()) await server.stop();
    installation.remove();
  });

  test("no run of a thread loses another server's writes", async () => {
    const thread = async (first: number) => {
      const threadId = await newThread(clients[0]!);
      for (const label of upTo(RUNS)) {
        const client = clients[(first + label) % clients.length]!;
        expect(await count(client, threadId, label)).toEqual(upTo(label));
      }
      for (const client of clients) await expectLabels(client, threadId, RUNS);
    };
    // a few at a time: a run then takes less than the smaller skew
    for (let n = 0; n < THREADS; n += 6) await Promise.all([0, 1, 2, 3, 4, 5].map((more) => thread(n + more)));
  });
});

describe("a machine whose clock steps", () => {
  const installation = newInstallation();
  const clock = join(installation.directory, "clock");
  const set = (offset: string) => writeFileSync(clock, `${offset}\n`);
  set("+10m");
  let server: ServerProcess;
  let client: LoadClient;

  beforeAll(async () => {
    // with this limit, a seemingly unresponsive host is killed during the test
    server = await ServerProcess.create(installation, { ...fakeClock({ file: clock }), HEDDLE_HOST_BLOCK_MS: "2000" });
    await server.start();
    client = new LoadClient(server.url, new Ledger());
  });
  afterAll(async () => {
    await client?.close();
    await server.stop();
    installation.remove();
  });

  test("runs after a restart with the right clock continue from checkpoints in the future", async () => {
    const threadId = await newThread(client);
    expect(await count(client, threadId, 1)).toEqual([1]);
    await server.stop();
    set("+0");
    await server.start();
    for (const label of [2, 3]) expect(await count(client, threadId, label)).toEqual(upTo(label));
    await expectLabels(client, threadId, 3);
  });

  test("runs continue in order when the clock steps back and ahead under a running server", async () => {
    const threadId = await newThread(client);
    for (const [n, offset] of ["+0", "+5m", "-5m", "+1s", "+0", "-1h", "+0"].entries()) {
      set(offset);
      await sleep(n % 2 === 0 ? 0 : 1500);
      expect(await count(client, threadId, n + 1)).toEqual(upTo(n + 1));
    }
    await expectLabels(client, threadId, 7);
  });

  test("a host whose response is pending when the clock steps back is not considered unresponsive", async () => {
    set("+0");
    const hosts = server.hosts();
    for (const pid of hosts) process.kill(pid, "SIGSTOP");
    await sleep(800);
    set("-1h");
    for (const pid of hosts) process.kill(pid, "SIGCONT");
    await sleep(4000);
    // on a busy machine another one may have started only now
    expect(server.hosts()).toEqual(expect.arrayContaining(hosts));
    set("+0");
  });
});
