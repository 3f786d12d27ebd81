/** Dead, slow or hostile receivers delay no run and no other receiver; no message is lost with a server. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import postgres from "postgres";
import { afterEach, beforeAll, expect, test, vi } from "vitest";

import { atEnd } from "../../../test/at-end.ts";
import { type Answerer, receiver } from "../../../test/receiver.ts";
import { testDatabase, type TestDatabase } from "../../../test/db.ts";
import { readOptions } from "../../base/config/options.ts";
import { createFaultPoint } from "../../base/fault-point.ts";
import { createLog } from "../../base/log.ts";
import { createOutbound } from "../../base/outbound/outbound.ts";
import { readPolicy } from "../../base/outbound/policy.ts";
import { agentOptions } from "../settings.ts";
import { readWebhookRules } from "../project/webhook-config.ts";
import { selectDueReceivers } from "../../base/webhooks/sql.ts";
import { RunWebhooks } from "./run-webhooks.ts";
import { RUN_WEBHOOKS } from "./sql.ts";

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});

const senders: RunWebhooks[] = [];
afterEach(async () => {
  await Promise.all(senders.splice(0).map((sender) => sender.stop()));
});

/** Sender that resolves names by `names`, else to 127.0.0.1; this simulates the internet. */
function sender(env: Record<string, string> = {}, names: Record<string, string> = {}, sql = db.sql): RunWebhooks {
  const settings = readOptions(agentOptions, {
    HEDDLE_WEBHOOK_RETRY_MS: "100",
    HEDDLE_WEBHOOK_TIMEOUT_MS: "1000",
    HEDDLE_LOG_LEVEL: "silent",
    ...env,
  });
  const resolve = (host: string) => Promise.resolve([{ address: names[host] ?? "127.0.0.1", family: 4 as const }]);
  const outbound = createOutbound(readPolicy("127.0.0.1", false), { resolve });
  const rules = { ...readWebhookRules(null, false, {}), allowedPorts: ANY_PORT };
  const sender = new RunWebhooks({
    sql,
    log: createLog("silent"),
    settings,
    outbound,
    fault: createFaultPoint(undefined),
    rules: () => rules,
    answer: () => null,
  });
  senders.push(sender);
  atEnd(() => outbound.close());
  return sender;
}
const ANY_PORT = Array.from({ length: 65_535 }, (_, n) => n + 1);

async function enqueue(url: string, count = 1): Promise<void> {
  await db.sql`
    insert into webhook_deliveries (run_id, thread_id, run_status, url, receiver, payload)
    select gen_random_uuid(), gen_random_uuid(), 'success', ${url},
           lower(substring(${url}::text from '^[A-Za-z]+://[^/?#]+')), '{"run_id":"x"}'
    from generate_series(1, ${count}::int)`;
}
const selectDeliveries = (url: string) => db.sql<{ status: string; attempts: number; error: string | null }[]>`
  select d.status, d.attempts, (select error from webhook_attempts a where a.delivery_id = d.delivery_id
                                order by attempt desc limit 1) as error
  from webhook_deliveries d where url = ${url}`;
const waitFor = <T>(what: () => T | Promise<T>, timeout = 20_000) => vi.waitFor(what, { timeout, interval: 20 });

const HOSTILE: Record<string, Answerer> = {
  "never answers": () => {},
  "sends headers without end": (response) => {
    const { socket } = response;
    socket?.write("HTTP/1.1 200 OK\r\n");
    const drip = setInterval(() => socket?.write(`x-${Math.random()}: ${"y".repeat(500)}\r\n`), 5);
    socket?.on("close", () => clearInterval(drip));
    socket?.on("error", () => {});
  },
  "is no HTTP": (response) => void response.socket?.end("220 mail.example ESMTP\r\n"),
  "hangs up": (response) => void response.socket?.destroy(),
};

test("a poll takes equally long with ten thousand waiting messages, even with a plan made for an empty table", async () => {
  const name = "http://busy.example";
  const connection = await db.sql.reserve();
  try {
    const look = () => selectDueReceivers(connection, RUN_WEBHOOKS, 128);
    // the plan is cached after a few executions
    for (let n = 0; n < 10; n++) expect([...(await look())]).toEqual([]);
    await enqueue(`${name}/a`, 10_000);
    await enqueue("http://paused.example/a", 10);
    await db.sql`insert into webhook_receivers (receiver, failures, paused_until)
                 values ('http://paused.example', 5, now() + interval '1 hour')`;
    // counts the rows that this transaction has read
    await connection`begin`;
    const read = async () => {
      const [row] = await connection<{ n: number }[]>`
        select sum(pg_stat_get_xact_tuples_returned(indexrelid))::int as n
        from pg_index where indrelid = 'webhook_deliveries'::regclass`;
      return row!.n;
    };
    const before = await read();
    expect([...(await look())]).toEqual([{ receiver: name, failures: 0 }]);
    expect((await read()) - before).toBeLessThan(20);
    await connection`commit`;
  } finally {
    connection.release();
    await db.sql`delete from webhook_deliveries`;
    await db.sql`delete from webhook_receivers`;
  }
});

test("dead, slow and hostile receivers with hundreds of messages do not delay a good receiver's message", async () => {
  const urls: string[] = [];
  for (const answer of Object.values(HOSTILE)) urls.push((await receiver(answer)).url);
  const dead = createServer().listen(0, "127.0.0.1");
  await once(dead, "listening");
  urls.push(`http://127.0.0.1:${(dead.address() as AddressInfo).port}`);
  dead.close();
  for (const url of urls) await enqueue(`${url}/x`, 200);
  const webhookSender = sender();
  webhookSender.start();
  await new Promise((resolve) => setTimeout(resolve, 500));

  const good = await receiver();
  const startedAt = Date.now();
  await enqueue(`${good.url}/good`, 40);
  await waitFor(() => expect(good.received.length).toBe(40));
  // one or two polls; the 400 hostile messages would take a second each
  expect(Date.now() - startedAt).toBeLessThan(15_000);

  // their cost is bounded: one attempt per pause after five failures
  await new Promise((resolve) => setTimeout(resolve, 2500));
  const attempts = await db.sql<{ receiver: string; n: number }[]>`
    select receiver, sum(attempts)::int as n from webhook_deliveries where url like '%/x' group by 1`;
  for (const { n } of attempts) expect(n).toBeLessThan(20);
  await webhookSender.stop();
  await db.sql`delete from webhook_deliveries`;
  await db.sql`delete from webhook_receivers`;
});

test("messages for a paused receiver cause no polls, and those for another receiver still do", async () => {
  let looks = 0;
  const sql = postgres(db.uri, {
    ...db.options,
    max: 2,
    debug: (_, query) => void (looks += Number(query.includes("with recursive waiting"))),
  });
  const [dead, good] = [await receiver(), await receiver()];
  await dead.close();
  await enqueue(`${dead.url}/paused`);
  await db.sql`
    insert into webhook_receivers (receiver, failures, paused_until) values (${dead.url}, 9, now() + interval '1 h')`;
  const webhookSender = sender({}, {}, sql);
  webhookSender.start();
  await waitFor(() => expect(looks).toBeGreaterThan(0));
  const startedAt = Date.now();
  const before = looks;
  for (let n = 0; n < 60; n++) {
    webhookSender.wake(dead.url);
    await new Promise((resolve) => setTimeout(resolve, 55));
  }
  // by the regular poll, and once a second for calls of `wake`; a poll per call would be 18 a second
  expect(looks - before).toBeLessThan(((Date.now() - startedAt) / 1000) * 6 + 5);
  await enqueue(`${good.url}/beside`);
  webhookSender.wake(good.url);
  await waitFor(() => expect(good.received).toHaveLength(1));
  await webhookSender.stop();
  await sql.end();
  await db.sql`delete from webhook_deliveries`;
  await db.sql`delete from webhook_receivers`;
});

test("counts an endless response as delivered, and cuts it off", async () => {
  let cut = false;
  const endless = await receiver((response) => {
    response.writeHead(200);
    const pour = setInterval(() => response.write("x".repeat(10_000)), 5);
    response.on("close", () => {
      cut = true;
      clearInterval(pour);
    });
  });
  const silent = await receiver((response) => void response.writeHead(200).write("x"));
  await enqueue(`${endless.url}/endless`);
  await enqueue(`${silent.url}/silent`);
  sender().start();
  await waitFor(async () => expect((await selectDeliveries(`${endless.url}/endless`))[0]?.status).toBe("delivered"));
  await waitFor(async () => expect((await selectDeliveries(`${silent.url}/silent`))[0]?.status).toBe("delivered"));
  expect(cut).toBe(true);
  expect(endless.received).toHaveLength(1);
  expect(silent.received).toHaveLength(1);
});

test("does not call or retry a name that resolves to a private address, and hides the address", async () => {
  const inside = await receiver();
  const names = { "evil.example": "10.1.2.3", "meta.example": "169.254.169.254" };
  await enqueue("http://evil.example/x");
  await enqueue("http://meta.example/x");
  sender({}, names).start();
  for (const [url, why] of [
    ["http://evil.example/x", "a private address"],
    ["http://meta.example/x", "a metadata service"],
  ] as const) {
    await waitFor(async () =>
      expect((await selectDeliveries(url))[0]).toMatchObject({ status: "failed", attempts: 1 }),
    );
    const [row] = await selectDeliveries(url);
    expect(row!.error).toContain(why);
    expect(row!.error).not.toMatch(/10\.1\.2\.3|169\.254/);
  }
  expect(inside.received).toHaveLength(0);
});

test("a receiver that recovers gets the waiting messages", async () => {
  const first = await receiver();
  const { port, url } = first;
  await first.close();
  await enqueue(`${url}/back`, 12);
  sender().start();
  await waitFor(async () => {
    const [row] = await db.sql<{ failures: number }[]>`select failures from webhook_receivers where receiver = ${url}`;
    expect(row?.failures).toBeGreaterThanOrEqual(5);
  });
  const back = await receiver((response) => response.end(), port);
  await waitFor(() => expect(back.received.length).toBe(12), 15_000);
  await waitFor(async () => {
    expect((await selectDeliveries(`${url}/back`)).every((row) => row.status === "delivered")).toBe(true);
    expect(await db.sql`select 1 from webhook_receivers where receiver = ${url}`).toHaveLength(0);
  });
});

test("gives up after the maximum number of attempts", async () => {
  const never = await receiver((response) => response.writeHead(404).end());
  await enqueue(`${never.url}/never`);
  sender({ HEDDLE_WEBHOOK_MAX_ATTEMPTS: "3", HEDDLE_WEBHOOK_RETRY_MS: "20" }).start();
  await waitFor(async () =>
    expect((await selectDeliveries(`${never.url}/never`))[0]).toMatchObject({ status: "failed", attempts: 3 }),
  );
  expect(never.received).toHaveLength(3);
  // a 404 shows that the receiver works
  const [row] = await db.sql`select failures, last_error from webhook_receivers where receiver = ${never.url}`;
  expect(row).toEqual({ failures: 0, last_error: "The receiver responded with status 404." });
});

test("three senders on one database send each message once", async () => {
  const good = await receiver();
  await enqueue(`${good.url}/once`, 150);
  // a late answer would cause a retry
  for (let n = 0; n < 3; n++) sender({ HEDDLE_WEBHOOK_TIMEOUT_MS: "20000" }).start();
  await waitFor(
    async () =>
      expect((await selectDeliveries(`${good.url}/once`)).every((row) => row.status === "delivered")).toBe(true),
    15_000,
  );
  expect(good.received).toHaveLength(150);
  expect(new Set(good.received.map((message) => message.headers["webhook-id"])).size).toBe(150);
});

test("sends a message leased by a killed server after the lease expires", async () => {
  const good = await receiver();
  await enqueue(`${good.url}/leased`);
  await db.sql`
    update webhook_deliveries set attempts = 1, tries = 1, available_at = now() + interval '700 ms' where url = ${`${good.url}/leased`}`;
  const [leased] = await db.sql<{ until: Date }[]>`
    select available_at as until from webhook_deliveries where url = ${`${good.url}/leased`}`;
  sender().start();
  await waitFor(() => expect(good.received).toHaveLength(1));
  expect(good.received[0]!.at).toBeGreaterThanOrEqual(leased!.until.getTime());
  await waitFor(async () =>
    expect((await selectDeliveries(`${good.url}/leased`))[0]).toMatchObject({ status: "delivered", attempts: 2 }),
  );
});

test("deletes old rows, and gives up messages for a receiver that never recovered", async () => {
  await db.sql`
    insert into webhook_deliveries (run_id, thread_id, run_status, url, receiver, payload, status, created_at, queued_at, finished_at)
    select gen_random_uuid(), gen_random_uuid(), 'success', 'http://old.example/' || s, 'http://old.example', '{}', s, t, t,
           case when s = 'pending' then null else t end
    from unnest(array['delivered', 'failed', 'pending']) s, (select now() - interval '10 days' as t) x`;
  await db.sql`insert into webhook_receivers (receiver, failures, paused_until) values ('http://old.example', 9, now() + interval '1 h')`;
  sender().start();
  await waitFor(async () => {
    const left = await db.sql<{ url: string; status: string }[]>`
      select url, status from webhook_deliveries where url like 'http://old.example/%'`;
    expect([...left]).toEqual([{ url: "http://old.example/pending", status: "failed" }]);
  });
});
