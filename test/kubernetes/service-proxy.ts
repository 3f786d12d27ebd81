import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

import { BRIDGE_ADDRESS } from "../../server/test/podman.ts";
import type { KubeClient } from "./kube-client.ts";
import { type Pod, isPodReady } from "./pod.ts";

/**
 * Forwards connections from pods to a port of ready pods, in place of kube-proxy.
 * @param pods path and query that list the pods
 */
export async function proxyService(client: KubeClient, pods: string, port: number): Promise<{ close(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer(async (from) => {
    sockets.add(from);
    from.on("error", () => {});
    from.on("close", () => sockets.delete(from));
    try {
      const { items } = await client.call<{ items: Pod[] }>("GET", pods);
      const ready = items.filter(isPodReady);
      const pod = ready[Math.floor(Math.random() * ready.length)];
      if (!pod) return void from.destroy();
      const to = connect(port, pod.status!.podIP);
      sockets.add(to);
      to.on("error", () => {});
      to.on("close", () => (from.destroy(), sockets.delete(to)));
      from.on("close", () => to.destroy());
      from.pipe(to).pipe(from);
    } catch {
      from.destroy();
    }
  });
  await once(server.listen(port, BRIDGE_ADDRESS), "listening");
  return {
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
