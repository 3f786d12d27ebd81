import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { afterEach, expect, test } from "vitest";

import { askInstance } from "./ask-instance.ts";
import { probe } from "./probe.ts";

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function listen(answer: (response: ServerResponse) => void): Promise<number> {
  server = createServer((_, response) => answer(response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

test("returns the status and the body", async () => {
  const port = await listen((response) => response.writeHead(503).end("a body"));
  expect(await askInstance({ host: "127.0.0.1", port, path: "/" }, 30_000)).toEqual({ status: 503, text: "a body" });
});

test("gives up an answer without an end, by size and by time", async () => {
  let sent = 0;
  const flood = await listen((response) => {
    const more = (): void => {
      for (let free = true; free && !response.destroyed; sent += 65_536)
        free = response.write(Buffer.alloc(65_536, "x"));
    };
    response.on("drain", more).on("error", () => {});
    more();
  });
  expect(await askInstance({ host: "127.0.0.1", port: flood, path: "/" }, 30_000)).toBeNull();
  expect(sent).toBeLessThan(64 * 1024 * 1024);
  server!.close();
  const drops = await listen((response) => {
    const timer = setInterval(() => response.write("x"), 50);
    response.on("close", () => clearInterval(timer));
  });
  // each byte would renew a limit on idle time
  expect(await probe(drops, 500)).toEqual({ state: "down" });
});

test("a closed port is no answer", async () => {
  const port = await listen(() => {});
  server!.close();
  await once(server!, "close");
  expect(await askInstance({ host: "127.0.0.1", port, path: "/" }, 30_000)).toBeNull();
});
