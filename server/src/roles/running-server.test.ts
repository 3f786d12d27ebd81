import { expect, test } from "vitest";

import { readOptions } from "../base/config/options.ts";
import { Health } from "../base/health.ts";
import { clientIpOptions } from "../base/http/client-ip.ts";
import { connectionOptions } from "../base/http/connection-limits.ts";
import { listenHttp } from "../base/http/http-server.ts";
import { createLog } from "../base/log.ts";
import { Started } from "../base/started.ts";
import { serve } from "./running-server.ts";

test("a server that stops is not ready and keeps serving for the drain delay, then closes its port", async () => {
  const started = new Started();
  const http = await listenHttp("127.0.0.1", 0, readOptions({ ...connectionOptions, ...clientIpOptions }, {}));
  started.add(() => http.close());
  const health = new Health({ checks: { database: () => ({ ok: true }) }, log: createLog("silent"), graceMs: 0 });
  const fetchOwn = async () => Response.json(await health.ready());
  const pages = { keyless: false, hosts: new Set<string>(), allows: () => false };
  serve(http, { fetch: fetchOwn, pages, health, settings: { drainDelaySecs: 1 } }, started);
  const isReady = async () => ((await (await fetch(http.url)).json()) as { ok: boolean }).ok;
  expect(await isReady()).toBe(true);
  const stopped = started.stop();
  expect(await isReady()).toBe(false);
  await stopped;
  await expect(isReady()).rejects.toThrow("fetch failed");
});
