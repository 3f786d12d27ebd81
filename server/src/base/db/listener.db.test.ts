import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { FaultProxy } from "../../../../test/faults/fault-proxy.ts";
import { createLog } from "../log.ts";
import { Listener } from "./listener.ts";

const db = await testDatabase();
const proxy = await FaultProxy.before(db.uri);
const received: string[] = [];
let gaps = 0;
const listener = new Listener(
  { uri: proxy.through(db.uri), socket: null },
  {
    log: createLog("silent"),
    channels: { heddle_test: (payload) => received.push(payload) },
    onGap: () => (gaps += 1),
  },
);
await listener.start();
afterAll(async () => {
  await listener.stop();
  await proxy.stop();
});

const notify = (payload: string) => db.sql`select pg_notify('heddle_test', ${payload})`;

test("receives notifications, and again after its connection was cut", async () => {
  await notify("one");
  await expect.poll(() => received).toEqual(["one"]);
  proxy.cut();
  await expect.poll(() => gaps, { timeout: 2000 }).toBe(1);
  await notify("two");
  await expect.poll(() => received).toEqual(["one", "two"]);
});

test("detects a silent connection within seconds", async () => {
  const before = gaps;
  proxy.silence();
  await notify("lost");
  await expect.poll(() => gaps, { timeout: 6000 }).toBe(before + 1);
  await notify("three");
  await expect.poll(() => received.at(-1)).toBe("three");
  expect(received).not.toContain("lost");
  await sleep(1500);
  expect(gaps).toBe(before + 1);
});
