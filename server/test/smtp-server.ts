import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

import { atEnd } from "./at-end.ts";

export interface SmtpServer {
  url: string;
  /** Messages as they were received, with their envelopes. */
  received: { from: string; to: string[]; text: string }[];
  /** Reply to the end of a message from now on. */
  reply: string;
}

/**
 * Starts a mail server (RFC 5321, without TLS) on loopback. It rejects recipients that begin with `nobody`, and the
 * first attempt of those that begin with `later`.
 */
export async function smtpServer(): Promise<SmtpServer> {
  const made: SmtpServer = { url: "", received: [], reply: "250 2.0.0 queued as 1" };
  const sockets = new Set<Socket>();
  const deferred = new Set<string>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => {});
    let envelope = { from: "", to: [] as string[] };
    let buffer = "";
    let isData = false;
    const say = (line: string) => socket.write(`${line}\r\n`);
    const address = (line: string) => /<(.*)>/.exec(line)?.[1] ?? "";
    const command = (line: string): void => {
      const verb = line.slice(0, 4).toUpperCase();
      if (verb === "EHLO") say("250-test\r\n250 8BITMIME");
      else if (verb === "MAIL") {
        envelope = { from: address(line), to: [] };
        say("250 2.1.0 ok");
      } else if (verb === "RCPT") {
        if (address(line).startsWith("nobody")) return void say("550 5.1.1 no such user");
        if (address(line).startsWith("later") && !deferred.has(address(line))) {
          deferred.add(address(line));
          return void say("451 4.7.1 greylisted");
        }
        envelope.to.push(address(line));
        say("250 2.1.5 ok");
      } else if (verb === "DATA") {
        isData = true;
        say("354 go ahead");
      } else if (verb === "QUIT") socket.end("221 bye\r\n");
      else say("250 ok");
    };
    say("220 test ESMTP");
    socket.on("data", (chunk) => {
      buffer += chunk.toString();
      for (;;) {
        const end = buffer.indexOf(isData ? "\r\n.\r\n" : "\r\n");
        if (end < 0) return;
        const text = buffer.slice(0, end);
        buffer = buffer.slice(end + (isData ? 5 : 2));
        if (!isData) command(text);
        else {
          isData = false;
          made.received.push({ ...envelope, text });
          say(made.reply);
        }
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  made.url = `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`;
  atEnd(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });
  return made;
}
