import { createServer, connect, type Server, type Socket } from "node:net";
import { url } from "./clients.ts";

/** A network that can be cut: forwards bytes between clients and the server until it is cut. */
export class Network {
  #server: Server;
  #sockets = new Set<Socket>();
  connections = 0;

  constructor() {
    const { hostname, port } = new URL(url);
    this.#server = createServer((near) => {
      this.connections += 1;
      const far = connect(Number(port), hostname);
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on("error", () => socket.destroy());
        socket.on("close", () => (this.#sockets.delete(socket), near.destroy(), far.destroy()));
      }
      near.pipe(far).pipe(near);
    });
  }

  async open(): Promise<string> {
    await new Promise<void>((done) => this.#server.listen(0, "127.0.0.1", done));
    return `http://127.0.0.1:${(this.#server.address() as { port: number }).port}`;
  }

  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  close(): void {
    this.cut();
    this.#server.close();
  }
}
