import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { pino } from "pino";
import { expect, test } from "vitest";

import { atEnd } from "../../../../test/at-end.ts";
import { Informer } from "./informer.ts";
import { KubernetesApi } from "./kubernetes-api.ts";

/** Starts an API server that lists no pods, and rejects watches while `isUnavailable`. Counts both. */
async function serve() {
  const state = { isUnavailable: false, lists: 0, watches: 0 };
  const server = createServer((request, response) => {
    const isWatch = request.url!.includes("watch=true");
    if (isWatch) state.watches++;
    else state.lists++;
    if (state.isUnavailable) return void response.writeHead(503).end("{}");
    if (isWatch) response.writeHead(200).flushHeaders();
    else response.end(JSON.stringify({ metadata: { resourceVersion: "7" }, items: [] }));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  atEnd(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const credentials = async () => ({ token: null, cert: null, key: null });
  const api = new KubernetesApi({
    ...{ server: url, ca: null, serverName: null, insecure: false, namespace: null, ownNamespace: null },
    credentials,
  });
  atEnd(() => api.close());
  return { state, api, breakWatches: () => server.closeAllConnections() };
}

test("pauses longer after each failed watch, watches again at once after a restart, and does not list again", async () => {
  const { state, api, breakWatches } = await serve();
  const log = pino({ level: "silent" });
  const informer = new Informer({ api, kind: "Pod", namespace: "a", selector: "", log, onChange: () => {} });
  informer.start();
  atEnd(() => informer.stop());
  await expect.poll(() => state.watches).toBe(1);

  state.isUnavailable = true;
  breakWatches();
  await sleep(3_500);
  // pauses of at least 125, 250, 500, 1000 and 2000 ms, and of at most twice as long
  expect(state.watches).toBeGreaterThan(2);
  expect(state.watches).toBeLessThanOrEqual(6);

  const before = state.watches;
  state.isUnavailable = false;
  informer.restart();
  await expect.poll(() => state.watches, { timeout: 1_000, interval: 20 }).toBeGreaterThan(before);
  expect(state.lists).toBe(1);
});
