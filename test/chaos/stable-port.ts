import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Returns a free loopback port below the ephemeral range, so that it is still free after a restart. */
export async function stablePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const isFree = await new Promise<boolean>((resolve) => {
      const probe = createServer();
      probe.once("error", () => resolve(false));
      probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}
