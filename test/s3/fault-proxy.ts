import { once } from "node:events";
import { createServer, type IncomingMessage, request as send, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer as readAll } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

/** What goes wrong with one request. */
export type Fault =
  /** The store says so itself, without having done anything: 500 InternalError, 503 SlowDown, 404 NoSuchBucket … */
  | { kind: "status"; status: number; code: string }
  /** Never an answer, and nothing was done. The connection stays. */
  | { kind: "hang" }
  /** The connection breaks before the request has arrived. */
  | { kind: "reset" }
  /** The store did it, and the answer was lost. */
  | { kind: "lose-answer" }
  /** The store's answer ends after so many bytes of its body. */
  | { kind: "truncate"; bytes: number }
  /** A page of a proxy instead of the store's answer. */
  | { kind: "html"; status: number }
  | { kind: "delay"; ms: number };

export const INTERNAL_ERROR: Fault = { kind: "status", status: 500, code: "InternalError" };
export const SLOW_DOWN: Fault = { kind: "status", status: 503, code: "SlowDown" };
export const NO_SUCH_BUCKET: Fault = { kind: "status", status: 404, code: "NoSuchBucket" };
export const KEY_REVOKED: Fault = { kind: "status", status: 403, code: "InvalidAccessKeyId" };

/** What a rule is asked about: once a request, with its number from 1. */
export interface Asked {
  number: number;
  method: string;
  /** With the query. */
  url: string;
}

export interface FaultProxy {
  endpoint: string;
  /** Replaces the rule; undefined lets everything through. */
  setRule(rule: ((asked: Asked) => Fault | undefined) | undefined): void;
  /** Requests so far. */
  count(): number;
  /** Faults so far. */
  faults(): number;
  stop(): Promise<void>;
}

/**
 * Stands before an S3 store and lets go wrong what a rule says. Signatures stay valid: the request goes on as it
 * came, with the Host that was signed.
 */
export async function startFaultProxy(store: string): Promise<FaultProxy> {
  let rule: ((asked: Asked) => Fault | undefined) | undefined;
  let number = 0;
  let faults = 0;
  const server = createServer((request, response) => {
    const fault = rule?.({ number: ++number, method: request.method ?? "GET", url: request.url ?? "/" });
    if (fault) faults++;
    void answer(store, request, response, fault).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setRule: (next) => void (rule = next),
    count: () => number,
    faults: () => faults,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function answer(store: string, request: IncomingMessage, response: ServerResponse, fault: Fault | undefined) {
  if (fault?.kind === "reset") return void request.socket.resetAndDestroy();
  if (fault?.kind === "hang") return void request.resume();
  if (fault?.kind === "delay") await sleep(fault.ms);
  const body = await readAll(request);
  if (fault?.kind === "status") {
    const content = `<?xml version="1.0"?><Error><Code>${fault.code}</Code><Message>a fault</Message></Error>`;
    response.writeHead(fault.status, { "Content-Type": "application/xml" });
    return void response.end(request.method === "HEAD" ? undefined : content);
  }
  if (fault?.kind === "html") {
    response.writeHead(fault.status, { "Content-Type": "text/html" });
    return void response.end("<html><body>Something else is here.</body></html>");
  }
  const { method = "GET", url = "/", headers } = request;
  const onward = send(store, { method, path: url, headers });
  onward.end(body);
  const [back] = (await once(onward, "response")) as [IncomingMessage];
  const content = await readAll(back);
  if (fault?.kind === "lose-answer") return void request.socket.resetAndDestroy();
  response.writeHead(back.statusCode ?? 502, back.headers);
  if (fault?.kind !== "truncate" || content.length <= fault.bytes) return void response.end(content);
  response.write(content.subarray(0, fault.bytes), () => response.destroy());
}

/** A repeatable source of chance (mulberry32), from 0 to below 1. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Lets `share` of all requests go wrong, each time another way. */
export function atRandom(share: number, seed: number): (asked: Asked) => Fault | undefined {
  const chance = seeded(seed);
  const kinds: Fault[] = [
    INTERNAL_ERROR,
    SLOW_DOWN,
    { kind: "reset" },
    { kind: "lose-answer" },
    { kind: "truncate", bytes: 20 },
    { kind: "html", status: 502 },
    { kind: "delay", ms: 50 },
  ];
  return () => (chance() < share ? kinds[Math.floor(chance() * kinds.length)] : undefined);
}
