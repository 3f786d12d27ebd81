import { get } from "node:http";
import { createServer } from "node:net";

import { failure, type Findings, ok, reason } from "./finding.ts";
import type { DoctorTarget } from "./read-settings.ts";

const FLAGS: Record<string, string> = { agent: "--port", trace: "--trace-port", control: "--control-port" };

/** Checks that each port is free, or that Heddle itself listens on it. */
export async function* checkPorts({ host, ports }: DoctorTarget): Findings {
  for (const [name, port] of Object.entries(ports)) {
    if (port === 0) continue;
    const check = `port.${name}`;
    const problem = await tryListen(host, port);
    if (problem === undefined) yield ok(check, `Port ${port} is free.`);
    else if (problem.code === "EADDRINUSE" && (await isHeddle(host, port))) {
      yield ok(check, `A server of Heddle listens on port ${port}.`);
    } else {
      const flag = FLAGS[name] ?? `--${name}-port`;
      yield failure(
        check,
        problem.code === "EADDRINUSE"
          ? `Another program listens on port ${port}.`
          : `${host}:${port} cannot be opened: ${reason(problem)}.`,
        problem.code === "EADDRNOTAVAIL" ? "Set --host to an address of this machine." : `Choose a port with ${flag}.`,
      );
    }
  }
}

function tryListen(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", resolve);
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/** Recognizes the answers of the servers, which need no key: health, and the console's description. */
async function isHeddle(host: string, port: number): Promise<boolean> {
  const address = /^(0\.0\.0\.0|::|)$/.test(host) ? "127.0.0.1" : host;
  for (const path of ["/ok", "/console.json"]) {
    const body = await ask(address, port, path);
    if (body.startsWith('{"ok":') || /^\{"version":"[^"]+","spaces":/.test(body)) return true;
  }
  return false;
}

/** Returns the beginning of an HTTP response's body; empty when there is none within 2 s. */
function ask(host: string, port: number, path: string): Promise<string> {
  return new Promise((resolve) => {
    let body = "";
    const request = get({ host, port, path, agent: false }, (response) => {
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        body += chunk;
        if (body.length > 10_000) end();
      });
      response.on("close", end);
    });
    const timeout = setTimeout(end, 2000);
    function end() {
      clearTimeout(timeout);
      request.destroy();
      resolve(body);
    }
    request.on("error", end);
  });
}
