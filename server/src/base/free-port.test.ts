import { once } from "node:events";
import { createServer } from "node:net";

import { expect, test } from "vitest";

import { freePort } from "./free-port.ts";

test("returns ports outside of the range of outgoing connections, on which a server can listen", async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, () => freePort()));
  for (const port of ports) {
    expect(port).toBeGreaterThanOrEqual(10_240);
    expect(port).toBeLessThan(32_768);
  }
  const server = createServer().listen(ports[0], "127.0.0.1");
  await once(server, "listening");
  server.close();
  await once(server, "close");
});
