import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** Resolves when something accepts connections on a loopback port; tries every 50 ms. Rejects after `tries`. */
export async function untilListening(port: number, tries = Infinity): Promise<void> {
  for (let left = tries; left > 0; left--) {
    const socket = connect(port, "127.0.0.1");
    try {
      await once(socket, "connect");
      return;
    } catch {
      await sleep(50);
    } finally {
      socket.destroy();
    }
  }
  throw new Error(`nothing listens on port ${port}`);
}
