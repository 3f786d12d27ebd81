import type { WebSocket } from "ws";

import { AppError, coerceError } from "../../base/errors.ts";
import { boundedParse } from "../../base/http/bounded-parse.ts";
import { translate } from "../../base/http/errors.ts";
import type { WebSocketIntake } from "../../base/http/websocket-intake.ts";
import { uuid7 } from "../../base/ids.ts";
import { parseJson } from "../../base/json-structure.ts";
import type { AgentDeps } from "../deps.ts";
import type { Caller } from "./caller.ts";
import { type EventFilter, isChannel, matches } from "./event-name.ts";
import { errorAnswer, handleCommand } from "./handle-command.ts";
import { parseParams } from "./parse-params.ts";
import { invalidArgument, ProtocolError } from "./protocol-error.ts";
import { command, type Command, type CommandAnswer, subscribeParams } from "./schema.ts";
import type { ThreadFeed } from "./thread-feed.ts";

/** Bytes that the socket may buffer before events wait. */
const BUFFERED_BYTES = 1024 * 1024;
const MAX_SUBSCRIPTIONS = 200;

// RFC 6455 §7.4.1
const GOING_AWAY = 1001;
const UNSUPPORTED_DATA = 1003;
const POLICY_VIOLATION = 1008;
const INTERNAL_ERROR = 1011;

/**
 * One WebSocket of protocol v2. Commands are answered in order. All subscriptions share one position in the thread's
 * events, so that an event is sent once even if several of them match; a new subscription first gets the earlier
 * events.
 */
export class ProtocolSocket {
  readonly #deps: AgentDeps;
  readonly #caller: Caller;
  readonly #socket: WebSocket;
  readonly #intake: WebSocketIntake;
  #feed!: ThreadFeed;
  #subscriptions = new Map<string, EventFilter>();
  /** Number of the last event that was sent, or that no subscription matched. */
  #at = 0;
  /** Commands in order of arrival. Many or large ones block the socket. */
  #commands: Buffer[] = [];
  #answering = false;
  #turn: Promise<void> = Promise.resolve();

  constructor(deps: AgentDeps, caller: Caller, socket: WebSocket, intake: WebSocketIntake) {
    this.#deps = deps;
    this.#intake = intake;
    this.#caller = caller;
    this.#socket = socket;
  }

  start(): void {
    this.#socket.on("message", (data, isBinary) => {
      if (isBinary) return this.#socket.close(UNSUPPORTED_DATA, "Protocol messages must be text.");
      this.#commands.push(data as Buffer);
      void this.#answer();
    });
    this.#follow().catch((error: unknown) => this.#broken(error));
  }

  get #isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  async #follow(): Promise<void> {
    const { protocol } = this.#deps;
    const feed = await protocol.open(this.#caller.threadId);
    this.#feed = feed;
    const closed = new Promise<void>((resolve) => this.#socket.once("close", () => resolve()));
    try {
      void this.#answer();
      while (this.#isOpen && !feed.closed) {
        await Promise.race([feed.waitFor(this.#at), closed]);
        if (this.#isOpen && !feed.closed) await this.#alone(() => this.#sendNext());
      }
      if (this.#isOpen) this.#socket.close(GOING_AWAY, "The server is stopping, or the thread was deleted.");
    } finally {
      protocol.release(feed);
    }
  }

  async #sendNext(): Promise<void> {
    const last = this.#feed.last;
    if (this.#subscriptions.size === 0) {
      this.#at = last;
      return;
    }
    const events = await this.#feed.read(this.#at);
    if (events.length > 0 && !(await this.#caller.maySee())) return this.#socket.close(POLICY_VIOLATION, "Forbidden");
    // numbers without events: those were too old and have been deleted
    this.#at = events.at(-1)?.seq ?? Math.max(this.#at, last);
    const filters = [...this.#subscriptions.values()];
    for (const event of events) {
      if (filters.some((filter) => matches(filter, event))) await this.#send(event.json);
    }
  }

  async #answer(): Promise<void> {
    // no command is answered before the thread's history is known
    if (this.#answering || !this.#feed) return;
    this.#answering = true;
    try {
      for (let data = this.#commands.shift(); data !== undefined; data = this.#commands.shift()) {
        if (this.#isOpen) await this.#handle(data.toString());
        this.#intake.handled(data.length);
      }
    } catch (error) {
      this.#broken(error);
    } finally {
      this.#answering = false;
    }
  }

  async #handle(text: string): Promise<void> {
    let id: number | null = null;
    try {
      const command = parseCommand(text);
      ({ id } = command);
      if (command.method === "subscription.subscribe") await this.#subscribe(command);
      else if (command.method === "subscription.unsubscribe") await this.#unsubscribe(command);
      else await this.#send(JSON.stringify(await handleCommand(this.#deps, this.#caller, command)));
    } catch (error) {
      await this.#send(JSON.stringify(this.#describe(id, error)));
    }
  }

  #describe(id: number | null, error: unknown): CommandAnswer {
    try {
      return errorAnswer(id, error);
    } catch {
      const { threadId: thread_id } = this.#caller;
      this.#deps.log.error({ err: error, thread_id }, "a protocol command failed");
      const { message } = translate(error);
      return { type: "error", id, error: "unknown_error", message };
    }
  }

  async #subscribe({ id, params }: Command): Promise<void> {
    const { channels, namespaces, depth } = parseParams(subscribeParams, params);
    const wrong = channels.find((channel) => !isChannel(channel));
    if (wrong !== undefined) throw invalidArgument(`subscription.subscribe received an unsupported channel: ${wrong}.`);
    if (this.#subscriptions.size >= MAX_SUBSCRIPTIONS) {
      throw invalidArgument(`A connection can have at most ${MAX_SUBSCRIPTIONS} subscriptions.`);
    }
    const filter = { channels, namespaces: namespaces ?? undefined, depth: depth ?? undefined };
    if (!(await this.#caller.maySee())) throw new ProtocolError("no_such_run", "Thread not found.");
    await this.#alone(async () => {
      if (this.#subscriptions.size === 0) this.#at = this.#feed.last;
      const until = this.#at;
      const subscription_id = uuid7();
      const replayed_events = await this.#eachBefore(until, filter, () => Promise.resolve());
      await this.#succeed(id, { subscription_id, replayed_events }, until);
      await this.#eachBefore(until, filter, (json) => this.#send(json));
      this.#subscriptions.set(subscription_id, filter);
    });
  }

  async #unsubscribe({ id, params }: Command): Promise<void> {
    const name = params?.["subscription_id"];
    if (typeof name !== "string") throw invalidArgument("subscription.unsubscribe requires a subscription_id.");
    if (!this.#subscriptions.delete(name))
      throw new ProtocolError("no_such_subscription", `Unknown subscription: ${name}`);
    await this.#succeed(id, {}, this.#at);
  }

  async #succeed(id: number, result: Record<string, unknown>, applied_through_seq: number): Promise<void> {
    const meta = { thread_id: this.#caller.threadId, applied_through_seq };
    await this.#send(JSON.stringify({ type: "success", id, result, meta } satisfies CommandAnswer));
  }

  /**
   * Passes the events up to number `last` that match the filter to `take`.
   * @returns their count
   */
  async #eachBefore(last: number, filter: EventFilter, take: (json: string) => Promise<void>): Promise<number> {
    let count = 0;
    for (let at = 0; at < last && this.#isOpen;) {
      const events = (await this.#feed.read(at)).filter(({ seq }) => seq <= last);
      if (events.length === 0) break;
      for (const event of events) {
        if (!matches(filter, event)) continue;
        count += 1;
        await take(event.json);
      }
      at = events.at(-1)!.seq;
    }
    return count;
  }

  /** Runs live events and replays one at a time, so that they do not interleave. */
  #alone(work: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => {});
    return done;
  }

  /** Sends, and waits while the client does not read. */
  async #send(text: string): Promise<void> {
    if (!this.#isOpen) return;
    if (this.#socket.bufferedAmount < BUFFERED_BYTES) return this.#socket.send(text, () => {});
    await new Promise<void>((resolve) => this.#socket.send(text, () => resolve()));
  }

  #broken(error: unknown): void {
    this.#deps.log.warn({ err: coerceError(error), thread_id: this.#caller.threadId }, "a WebSocket failed");
    this.#socket.close(INTERNAL_ERROR, "Internal error.");
  }
}

function parseCommand(text: string): Command {
  let message: unknown;
  try {
    message = parseJson(text);
  } catch (error) {
    throw invalidArgument(error instanceof AppError ? error.message : "Protocol commands must be valid JSON.");
  }
  const parsed = boundedParse(command, message);
  if (parsed.success) return parsed.data;
  throw invalidArgument("Protocol commands must include an integer id and string method.");
}
