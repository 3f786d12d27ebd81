/**
 * A TCP proxy between two processes that fails on command. Faults apply to the links whose client name matches: for
 * Postgres that is `application_name`, so that a server's own connections and those of its graph hosts fail separately.
 * The proxy declines encryption itself: the name is in the startup packet, which follows.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

import { applicationName, asksForEncryption, BackendMessages } from "./postgres-frames.ts";

export type LinkFilter = (clientName: string) => boolean;
const ALL: LinkFilter = () => true;

interface Lasting {
  matches: LinkFilter;
  kind: "half-open" | "delay" | "refuse" | "hold-answers";
  ms: number;
}

interface Armed {
  matches: LinkFilter;
  kind: "lose-answer" | "swallow";
  left: number;
  /** For `swallow`: delay before the connection is reset. */
  ms: number;
}

export class FaultProxy {
  readonly #server: Server;
  readonly #target: number;
  readonly #speaksPostgres: boolean;
  readonly #links = new Set<Link>();
  readonly #lasting = new Set<Lasting>();
  readonly #armed = new Set<Armed>();
  #notificationsToDrop = 0;
  /** Faults that have hit a connection, by kind. */
  readonly hits: Record<string, number> = {};

  private constructor(target: number, speaksPostgres: boolean) {
    this.#target = target;
    this.#speaksPostgres = speaksPostgres;
    this.#server = createServer((near) => this.#accept(near));
  }

  /** Listens on a free loopback port and forwards to the port `target`. */
  static async start(target: number, protocol: "postgres" | "other"): Promise<FaultProxy> {
    const proxy = new FaultProxy(target, protocol === "postgres");
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  /** Listens in front of the database at `uri`. */
  static before(uri: string): Promise<FaultProxy> {
    return FaultProxy.start(Number(new URL(uri).port), "postgres");
  }

  /** The address `uri`, through the proxy. */
  through(uri: string): string {
    const through = new URL(uri);
    through.host = `127.0.0.1:${this.port}`;
    return through.href;
  }

  /** Number of open connections. */
  get count(): number {
    return this.#links.size;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Resets the connections that are currently open. */
  cut(matches: LinkFilter = ALL): void {
    for (const link of this.#links) {
      if (!matches(link.clientName)) continue;
      this.#hit("cut");
      link.reset();
    }
  }

  /**
   * Forwards the next `count` requests, drops their responses and resets their connections: a commit without a response.
   */
  loseAnswers(count: number, matches: LinkFilter = ALL): () => void {
    return this.#arm({ matches, kind: "lose-answer", left: count, ms: 0 });
  }

  /** Drops the next `count` requests; their connections are reset after `ms`, or when the fault ends. */
  swallow(count: number, ms: number, matches: LinkFilter = ALL): () => void {
    const disarm = this.#arm({ matches, kind: "swallow", left: count, ms });
    return () => {
      disarm();
      for (const link of this.#links) if (link.swallows) link.reset();
    };
  }

  /** Drops the next `count` notifications of Postgres. */
  dropNotifications(count: number): () => void {
    this.#notificationsToDrop += count;
    return () => (this.#notificationsToDrop = 0);
  }

  /** Stops forwarding in both directions and keeps the sockets open; resets them when the fault ends. */
  halfOpen(matches: LinkFilter = ALL): () => void {
    const fault: Lasting = { matches, kind: "half-open", ms: 0 };
    this.#lasting.add(fault);
    for (const link of this.#links) {
      if (!matches(link.clientName)) continue;
      this.#hit("half-open");
      link.hold();
    }
    return () => {
      this.#lasting.delete(fault);
      for (const link of this.#links) if (link.isHeld) link.reset();
    };
  }

  /** Stops forwarding on the connections that are open, and keeps their sockets open; serves new ones. */
  silence(matches: LinkFilter = ALL): void {
    for (const link of this.#links) if (matches(link.clientName)) link.hold();
  }

  /** Forwards requests and withholds their responses; resets the connections when the fault ends. */
  holdAnswers(matches: LinkFilter = ALL): () => void {
    const fault: Lasting = { matches, kind: "hold-answers", ms: 0 };
    this.#lasting.add(fault);
    return () => {
      this.#lasting.delete(fault);
      this.cut(matches);
    };
  }

  /** Delays every chunk in both directions. */
  delay(ms: number, matches: LinkFilter = ALL): () => void {
    const fault: Lasting = { matches, kind: "delay", ms };
    this.#lasting.add(fault);
    return () => void this.#lasting.delete(fault);
  }

  /** Resets open connections, and each new one at once. */
  refuse(matches: LinkFilter = ALL): () => void {
    const fault: Lasting = { matches, kind: "refuse", ms: 0 };
    this.#lasting.add(fault);
    this.cut(matches);
    return () => void this.#lasting.delete(fault);
  }

  async stop(): Promise<void> {
    this.#server.close();
    for (const link of this.#links) link.reset();
    await once(this.#server, "close");
  }

  #accept(near: Socket): void {
    const link = new Link(near, connect(this.#target, "127.0.0.1"), this.#speaksPostgres, {
      delay: (name) => this.#ruling("delay", name)?.ms ?? 0,
      isRefused: (name) => this.#ruling("refuse", name) !== undefined,
      holdsAnswers: (name) => this.#ruling("hold-answers", name) !== undefined,
      isHalfOpen: (name) => this.#ruling("half-open", name) !== undefined,
      take: (name) => this.#take(name),
      dropsNotification: () => {
        if (this.#notificationsToDrop === 0) return false;
        this.#notificationsToDrop--;
        this.#hit("notification");
        return true;
      },
    });
    this.#links.add(link);
    near.once("close", () => this.#links.delete(link));
  }

  #arm(fault: Armed): () => void {
    this.#armed.add(fault);
    return () => void this.#armed.delete(fault);
  }

  #ruling(kind: Lasting["kind"], name: string): Lasting | undefined {
    for (const fault of this.#lasting) if (fault.kind === kind && fault.matches(name)) return fault;
    return undefined;
  }

  #take(name: string): Armed | undefined {
    for (const fault of this.#armed) {
      if (fault.left === 0 || !fault.matches(name)) continue;
      fault.left--;
      this.#hit(fault.kind);
      return fault;
    }
    return undefined;
  }

  #hit(kind: string): void {
    this.hits[kind] = (this.hits[kind] ?? 0) + 1;
  }
}

interface Rules {
  delay(name: string): number;
  isRefused(name: string): boolean;
  isHalfOpen(name: string): boolean;
  holdsAnswers(name: string): boolean;
  take(name: string): { kind: "lose-answer" | "swallow"; ms: number } | undefined;
  dropsNotification(): boolean;
}

/** One client's connection through the proxy. */
class Link {
  readonly #near: Socket;
  readonly #far: Socket;
  readonly #rules: Rules;
  readonly #messages: BackendMessages | undefined;
  #named = false;
  clientName = "";
  isHeld = false;
  #losesAnswer = false;
  swallows = false;

  constructor(near: Socket, far: Socket, speaksPostgres: boolean, rules: Rules) {
    this.#near = near;
    this.#far = far;
    this.#rules = rules;
    this.#messages = speaksPostgres ? new BackendMessages(() => rules.dropsNotification()) : undefined;
    for (const socket of [near, far]) {
      socket.setNoDelay(true);
      socket.on("error", () => this.reset());
      socket.on("close", () => this.#endOther(socket));
    }
    const toFar = delayed(far, () => rules.delay(this.clientName));
    const toNear = delayed(near, () => rules.delay(this.clientName));
    near.on("data", (chunk: Buffer) => this.#request(chunk, toFar));
    far.on("data", (chunk: Buffer) => this.#answer(chunk, toNear));
  }

  hold(): void {
    this.isHeld = true;
    this.#near.pause();
    this.#far.pause();
  }

  reset(): void {
    this.#near.resetAndDestroy();
    this.#far.resetAndDestroy();
  }

  #request(chunk: Buffer, forward: (chunk: Buffer) => void): void {
    if (this.#messages && !this.#named && asksForEncryption(chunk)) {
      this.#near.write("N");
      return;
    }
    if (!this.#named) {
      this.#named = true;
      this.clientName = (this.#messages && applicationName(chunk)) ?? "";
      if (this.#rules.isRefused(this.clientName)) return this.reset();
      if (this.#rules.isHalfOpen(this.clientName)) return this.hold();
    }
    if (this.swallows) return;
    const fault = this.#rules.take(this.clientName);
    if (fault?.kind === "swallow") {
      this.swallows = true;
      setTimeout(() => this.reset(), fault.ms).unref();
      return;
    }
    if (fault?.kind === "lose-answer") this.#losesAnswer = true;
    forward(chunk);
  }

  #answer(chunk: Buffer, forward: (chunk: Buffer) => void): void {
    if (this.#losesAnswer) return this.reset();
    if (this.#rules.holdsAnswers(this.clientName)) return;
    const passed = this.#messages ? this.#messages.filter(chunk) : chunk;
    if (passed.length > 0) forward(passed);
  }

  /** Lets data that was already forwarded arrive before the other side is closed. */
  #endOther(closed: Socket): void {
    const other = closed === this.#near ? this.#far : this.#near;
    if (!other.destroyed) other.destroySoon();
  }
}

/**
 * Writes chunks in order, each after the delay in force when it arrives. A timer may fire before another that was due a
 * moment earlier, so each one writes the oldest waiting chunk, not its own.
 */
function delayed(target: Socket, delay: () => number): (chunk: Buffer) => void {
  const waiting: Buffer[] = [];
  let last = 0;
  const write = (chunk: Buffer) => {
    if (!target.destroyed && target.writable) target.write(chunk);
  };
  return (chunk) => {
    const ms = delay();
    if (ms === 0 && waiting.length === 0) return write(chunk);
    const at = Math.max(performance.now() + ms, last);
    last = at;
    waiting.push(chunk);
    setTimeout(() => write(waiting.shift()!), at - performance.now());
  };
}
