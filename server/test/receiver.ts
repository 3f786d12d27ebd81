import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { atEnd } from "./at-end.ts";

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect to be there
  json: any;
  at: number;
}

export type Answerer = (response: ServerResponse, received: Received, count: number) => void;

export interface Receiver {
  url: string;
  port: number;
  received: Received[];
  /** Response from now on. */
  answer: Answerer;
  close(): Promise<void>;
}

/** Starts a webhook receiver on loopback. Responds 200 by default; stops after the file's tests. */
export async function receiver(answer: Answerer = (response) => response.end(), port = 0): Promise<Receiver> {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const body = Buffer.concat(parts).toString();
      const { headers, url: path = "" } = request;
      received.push({ path, headers, body, json: JSON.parse(body) as unknown, at: Date.now() });
      made.answer(response, received.at(-1)!, received.length);
    });
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const bound = (server.address() as AddressInfo).port;
  let closed = false;
  const made: Receiver = {
    url: `http://127.0.0.1:${bound}`,
    port: bound,
    received,
    answer,
    async close() {
      if (closed) return;
      closed = true;
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
  atEnd(() => made.close());
  return made;
}
