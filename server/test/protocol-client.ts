import { agentPages, LOCAL } from "../src/pages.ts";
import WebSocket from "ws";

import { createAgentApp } from "../src/agent-app.ts";
import { agentOptions } from "../src/agent/settings.ts";
import { readOptions } from "../src/base/config/options.ts";
import { type HttpServer, listenHttp } from "../src/base/http/http-server.ts";
import type { Guard } from "../src/base/http/route.ts";
import { atEnd } from "./at-end.ts";
import type { TestAgentServer } from "./agent-server.ts";
import { openGuard } from "./principal.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect to be there
type Json = any;

/** Serves an agent server on a port, for tests that need a connection. */
export async function listenAgent(
  { agent }: TestAgentServer,
  env: Record<string, string> = {},
  guard: Guard = openGuard,
): Promise<HttpServer> {
  const http = await listenHttp("127.0.0.1", 0, readOptions(agentOptions, env));
  http.serve(createAgentApp(agent.deps, guard).fetch, agentPages(agent.deps, LOCAL));
  atEnd(() => http.close());
  return http;
}

/** Reads server-sent events of protocol v2. */
export class EventReader {
  readonly events: Json[] = [];
  /** Received text, byte for byte; comments are omitted. */
  text = "";
  ended = false;
  /** Called with each event as it arrives. */
  onEvent: ((event: Json) => void) | undefined;
  #abort = new AbortController();

  static async open(url: string, threadId: string, body: object, headers = {}): Promise<EventReader> {
    const reader = new EventReader();
    const response = await fetch(`${url}/threads/${threadId}/stream/events`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
      signal: reader.#abort.signal,
    });
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    void reader.#read(response.body!).catch(() => {});
    return reader;
  }

  close(): void {
    this.#abort.abort();
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    let rest = "";
    const decoder = new TextDecoder();
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
      rest += decoder.decode(chunk, { stream: true });
      for (let end = rest.indexOf("\n\n"); end !== -1; end = rest.indexOf("\n\n")) {
        const frame = rest.slice(0, end + 2);
        rest = rest.slice(end + 2);
        if (frame.startsWith(":")) continue;
        this.text += frame;
        const event = JSON.parse(/^data: (.*)$/m.exec(frame)![1]!) as Json;
        this.events.push(event);
        this.onEvent?.(event);
      }
    }
    this.ended = true;
  }
}

/** One WebSocket of protocol v2. */
export class SocketClient {
  readonly socket: WebSocket;
  readonly received: Json[] = [];
  closed: { code: number; reason: string } | undefined;
  #id = 0;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data) => this.received.push(JSON.parse((data as Buffer).toString())));
    socket.on("close", (code, reason) => (this.closed = { code, reason: reason.toString() }));
  }

  static open(url: string, threadId: string, headers: Record<string, string> = {}, query = ""): Promise<SocketClient> {
    const socket = new WebSocket(`${url.replace("http", "ws")}/threads/${threadId}/stream/events${query}`, { headers });
    const client = new SocketClient(socket);
    return new Promise((resolve, reject) => {
      socket.once("open", () => resolve(client));
      socket.on("error", reject);
    });
  }

  get events(): Json[] {
    return this.received.filter(({ type }) => type === "event");
  }

  async command(method: string, params?: object): Promise<Json> {
    const id = ++this.#id;
    this.socket.send(JSON.stringify({ id, method, params }));
    return this.until(() => this.received.find((message) => message.type !== "event" && message.id === id));
  }

  async until<T>(found: () => T): Promise<NonNullable<T>> {
    for (const end = Date.now() + 20_000; ;) {
      const value = found();
      if (value) return value;
      if (Date.now() > end) throw new Error(`not seen in ${JSON.stringify(this.received).slice(0, 2000)}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}
