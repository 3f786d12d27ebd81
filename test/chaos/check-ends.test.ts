import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { expect, test } from "vitest";

import { atEnd } from "../../server/test/at-end.ts";
import { Generator } from "./generator/generator.ts";
import { Session } from "./generator/session.ts";
import { History } from "./history.ts";
import { readInTime } from "./read-world.ts";

test("a stop does not wait longer than its limit for scenarios, and counts those that have not ended", async () => {
  const directory = mkdtempSync(join(tmpdir(), "heddle-generator-"));
  const unanswered = new Set<ServerResponse>();
  const reject = (response: ServerResponse) => response.writeHead(404).end();
  let hangs = true;
  // creates crons, and answers nothing else at first
  const server = createServer((request, response) => {
    if (request.url?.includes("/crons")) response.end(JSON.stringify({ cron_id: "c" }));
    else if (hangs) unanswered.add(response);
    else reject(response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const history = new History(join(directory, "history.jsonl"));
  atEnd(async () => {
    server.close();
    await history.close();
    rmSync(directory, { recursive: true });
  });
  const { port } = server.address() as AddressInfo;
  const url = () => `http://127.0.0.1:${port}`;
  const generator = new Generator(new Session({ history, url, seed: 1, webhookUrl: url() }));
  await generator.start();
  expect(await generator.stop(50)).toBe(12);
  hangs = false;
  unanswered.forEach(reject);
  expect(await generator.stop(20_000)).toBe(0);
});

test("begins to read no further thread once the time is up", async () => {
  const ids = Array.from({ length: 100 }, (_, n) => String(n));
  let read = 0;
  const answer = async () => {
    read++;
    await sleep(30);
    return 200;
  };
  const views = await readInTime(ids, 50, answer, () => 0);
  expect(views).toHaveLength(100);
  expect(views.filter((status) => status === 200)).toHaveLength(read);
  expect(read).toBeLessThan(100);
});
