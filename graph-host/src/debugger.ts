import { open } from "node:inspector";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { complain } from "./complain.ts";

const HOST = "127.0.0.1";
/** A host that is being replaced holds the port for a moment. */
const PORT_MS = 10_000;

/** Lets a debugger attach on a port. Node prints the address; runs do not wait for a debugger. */
export async function listenForDebugger(port: number): Promise<void> {
  const deadline = performance.now() + PORT_MS;
  while (await isUsed(port)) {
    if (performance.now() > deadline) {
      complain(`No debugger can attach: port ${port} is in use. Choose another one with --debug-port.`);
      return;
    }
    await sleep(100);
  }
  open(port, HOST);
}

const isUsed = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = connect(port, HOST, () => resolve(true));
    probe.once("error", () => resolve(false));
    probe.once("connect", () => probe.destroy());
  });
