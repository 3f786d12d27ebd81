import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Range of ports: below those that the system assigns to outgoing connections (32768 and more), which would take a free
 * port at any time, and above those that fetch() does not call.
 */
const FIRST = 10_240;
const LAST = 32_767;
const ATTEMPTS = 100;

/** Returns a free port on loopback, as base/free-port.ts of the server does. Another process may take it before it is used. */
export async function freePort(): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const port = randomInt(FIRST, LAST + 1);
    const probe = createServer();
    try {
      probe.listen(port, "127.0.0.1");
      await once(probe, "listening");
    } catch (error) {
      if (attempt < ATTEMPTS) continue;
      throw error;
    }
    probe.close();
    await once(probe, "close");
    return port;
  }
}
