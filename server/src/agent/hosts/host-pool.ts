/**
 * The graph hosts of one server.
 *
 * There are `count` hosts that take runs and one warm reserve. A host that dies or falls silent is replaced at
 * once, by the reserve; a silent one that recovers is kept until it is idle. When a host dies, nobody can tell
 * which of its runs did it: all of them go to the reserve, away from the others, and those that lose it too get
 * a host for themselves, so that the guilty one can only harm itself. Questions that are no runs go to the idlest host, mostly the reserve, so that they are answered however busy the others are. On
 * reload a whole new generation starts; work goes to it as soon as one of its hosts is ready, and the old
 * generation finishes what it has.
 */
import type {
  GraphStatus,
  HostCalls,
  LostTrace,
  RunStart,
  TraceDestination,
} from "../../../../graph-host/src/protocol.ts";
import { AppError, notFound, unavailable, unprocessable } from "../../base/errors.ts";
import { GraphHost, type HostEvents, type HostOptions } from "./graph-host.ts";

const CLOSE_MS = 20_000;
const TICK_MS = 250;
/** How long the exits of hosts that ended themselves may take to be heard. */
const THAW_MS = 3000;
/** How long the last traces may hold up the end of the server. */
const FLUSH_MS = 1500;
const MAX_RESTART_PAUSE_MS = 5000;
/** As many starts that others end in a row, half a minute's, are taken for a project that cannot be loaded here. */
const MOST_KILLED_STARTS = 10;
/** A host that exits with this has told what the project lacks; trying again changes nothing before that does. */
const EXIT_CONFIG = 78;

export interface HostPoolEvents extends Omit<HostEvents, "onReady"> {
  /** A host can take work that had to wait. */
  onCapacity(): void;
  /** A generation has loaded its graphs for the first time. */
  onGraphs(graphs: Record<string, GraphStatus>): void;
}

/** What a run's past says of it: nothing, that it may have brought a host down, that it is the last chance. */
export type Suspicion = "none" | "apart" | "alone";

export class HostPool {
  #options: HostOptions & { count: number };
  readonly #events: HostPoolEvents;
  #hosts = new Set<GraphHost>();
  #generation = new Set<GraphHost>();
  /** The generation before, serving until the new one is ready. */
  #previous: GraphHost[] = [];
  #graphs: Record<string, GraphStatus> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #lastTick = performance.now();
  #thawedAt = Number.NEGATIVE_INFINITY;
  #failedStarts = 0;
  #stopping = false;
  #lastFailure = "";
  /** Hosts wanted beyond the usual number, for runs that must be alone. */
  #spawnFor = 0;
  #traces: TraceDestination = { state: "off" };

  constructor(options: HostOptions & { count: number }, events: HostPoolEvents) {
    this.#options = options;
    this.#events = events;
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#ensure();
  }

  /** Which graphs loaded, or undefined while the first host starts. */
  get graphs(): Record<string, GraphStatus> | undefined {
    return this.#graphs;
  }

  /** Graphs of the project, without those that did not load. */
  get runnable(): string[] {
    return Object.keys(this.#options.project.graphs).filter((id) => this.#graphs?.[id]?.ok !== false);
  }

  get all(): readonly GraphHost[] {
    return [...this.#hosts];
  }

  /**
   * Whether this process was stopped a moment ago for so long that hosts had to take it for gone: their end then says
   * nothing of their runs.
   */
  get wasFrozen(): boolean {
    const now = performance.now();
    if (now - this.#lastTick > this.#options.silenceMs / 2) this.#thawedAt = now;
    return now - this.#thawedAt < THAW_MS;
  }

  get langgraphVersion(): string | undefined {
    return [...this.#hosts].find((host) => host.langgraphVersion)?.langgraphVersion;
  }

  /** True when `startRun` would find a host right now. */
  get hasCapacity(): boolean {
    return this.#pickForRun() !== undefined;
  }

  /** Throws what a caller should hear when the graph cannot run: 404 unknown, 422 not loadable. */
  checkGraph(graphId: string): void {
    if (!Object.hasOwn(this.#options.project.graphs, graphId)) throw notFound(`Graph "${graphId}" not found.`);
    const status = this.#graphs?.[graphId];
    if (status && !status.ok) throw unprocessable(`Graph "${graphId}" could not be loaded: ${status.error}`);
  }

  /** Hands a run to a host. False when none can take it; `onCapacity` will tell when to try again. */
  startRun(start: RunStart, kwargs: string, suspicion: Suspicion): boolean {
    const host =
      suspicion === "alone" ? this.#pickAlone() : suspicion === "apart" ? this.#idlest() : this.#pickForRun();
    if (!host) return false;
    host.isolated = suspicion === "alone";
    host.startRun(start, kwargs);
    // an isolated host no longer counts among those that take work
    if (host.isolated) this.#ensure();
    return true;
  }

  cancelRun(runId: string, reason: string): GraphHost | undefined {
    for (const host of this.#hosts) {
      if (!host.runs.has(runId)) continue;
      host.cancelRun(runId, reason);
      return host;
    }
    return undefined;
  }

  /** Has the server write the end of a run. */
  holdEnd(runId: string): void {
    for (const host of this.#hosts) if (host.runs.has(runId)) host.holdEnd(runId);
  }

  /** Has a run stopped that belongs to somebody else now; nothing of it is heard any more. */
  dropRun(runId: string): void {
    const host = this.cancelRun(runId, "lost");
    host?.runs.delete(runId);
  }

  /** Whether runs are traced. */
  get traces(): boolean {
    return this.#traces.state !== "off";
  }

  sendTracesTo(destination: TraceDestination): void {
    this.#traces = destination;
    for (const host of this.#hosts) host.sendTracesTo(destination);
  }

  /** Has the end of a run told that no host can tell any more which ran it. Best effort. */
  closeTrace(trace: LostTrace): void {
    if (!this.traces) return;
    const host = this.#idlest();
    if (host) host.closeTrace(trace);
    // what a server finds when it starts, it finds before its hosts are ready
    else
      void this.#untilUsable(CLOSE_MS).then(
        (one) => one.closeTrace(trace),
        () => {},
      );
  }

  /**
   * Asks any host. A host that dies during a question that changes nothing costs a second try.
   * @returns raw JSON text
   */
  async call<M extends keyof HostCalls>(
    method: M,
    params: HostCalls[M]["params"],
    options: { timeoutMs?: number } = {},
  ): Promise<Buffer> {
    const timeoutMs = options.timeoutMs ?? 30_000;
    this.checkGraph(params.graph_id);
    for (let attempt = 1; ; attempt++) {
      const host = this.#idlest() ?? (await this.#untilUsable(timeoutMs));
      this.checkGraph(params.graph_id);
      try {
        return await host.call(method, params, timeoutMs);
      } catch (error) {
        const lost = error instanceof AppError && error.status === 503 && host.state === "dead";
        if (!lost || attempt === 3 || method === "state.update") throw error;
      }
    }
  }

  /** Loads the project anew in new processes. Runs that go on keep their hosts. */
  reload(project: HostOptions["project"]): void {
    this.#options = { ...this.#options, project };
    // a generation that never got ready is of no use to anybody
    for (const host of this.#generation) {
      if (host.state === "starting") host.kill("replaced before it was ready");
      else this.#previous.push(host);
    }
    this.#generation = new Set();
    this.#failedStarts = 0;
    this.#ensure();
  }

  /** Ends all hosts at once. The caller has seen to their runs. */
  async stop(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#timer);
    if (this.traces) await Promise.all(this.all.map((host) => host.flushTraces(FLUSH_MS)));
    const gone = [...this.#hosts].map(
      (host) =>
        new Promise<void>((resolve) => {
          const check = setInterval(() => {
            if (host.state !== "dead") return;
            clearInterval(check);
            resolve();
          }, 10);
          host.kill("the server stopped");
        }),
    );
    await Promise.all(gone);
  }

  /** The least busy of the `count` busiest, so that one host stays idle. */
  #pickForRun(): GraphHost | undefined {
    const hosts = usable(this.#generation);
    if (hosts.length === 0) return usable(this.#previous).sort(byRuns)[0];
    return hosts
      .sort((a, b) => byRuns(b, a))
      .slice(0, this.#options.count)
      .at(-1);
  }

  #idlest(): GraphHost | undefined {
    return usable(this.#generation).sort(byRuns)[0] ?? usable(this.#previous).sort(byRuns)[0];
  }

  #pickAlone(): GraphHost | undefined {
    const idle = usable(this.#generation).find((host) => host.runs.size === 0);
    if (idle) this.#spawnFor = Math.max(this.#spawnFor - 1, 0);
    else this.#spawnFor = Math.min(this.#spawnFor + 1, 4);
    this.#ensure();
    return idle;
  }

  async #untilUsable(timeoutMs: number): Promise<GraphHost> {
    const deadline = performance.now() + Math.min(timeoutMs, 20_000);
    while (performance.now() < deadline && !this.#stopping) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      const host = this.#idlest();
      if (host) return host;
    }
    throw unavailable(`No graph host is ready.${this.#lastFailure && ` The last one ${this.#lastFailure}`}`, 2);
  }

  #ensure(): void {
    if (this.#stopping) return;
    const able = [...this.#generation].filter((host) => !host.isolated && !host.suspect && host.state !== "draining");
    // one after the other: a start takes a whole core, which the runs that wait for the first one need, too
    if (able.some((host) => host.state === "starting")) return;
    if (able.length < this.#options.count + 1 + this.#spawnFor) this.#spawn();
  }

  #spawn(): void {
    const host: GraphHost = new GraphHost(this.#options, {
      ...this.#events,
      onReady: () => this.#ready(host),
      onRunEnd: (end, result) => {
        this.#events.onRunEnd(end, result);
        this.#retire(host);
      },
      onExit: (_, reason) => this.#exited(host, reason),
    });
    this.#hosts.add(host);
    this.#generation.add(host);
    host.start();
    if (this.traces) host.sendTracesTo(this.#traces);
  }

  #ready(host: GraphHost): void {
    this.#failedStarts = 0;
    if (this.#generation.has(host)) {
      for (const old of this.#previous.splice(0)) old.drain();
      if (this.#graphs === undefined || JSON.stringify(this.#graphs) !== JSON.stringify(host.graphs)) {
        this.#graphs = host.graphs;
        this.#events.onGraphs(host.graphs);
      }
    }
    this.#ensure();
    this.#events.onCapacity();
  }

  /** Lets go of hosts that are idle and no longer needed. */
  #retire(host: GraphHost): void {
    if (host.runs.size > 0) return;
    if (host.isolated) {
      // the suspect has proved itself harmless
      host.isolated = false;
    }
    const able = usable(this.#generation);
    if (able.length > this.#options.count + 1 && able.includes(host) && this.#generation.delete(host)) host.drain();
    this.#events.onCapacity();
  }

  #exited(host: GraphHost, reason: string): void {
    this.#hosts.delete(host);
    this.#previous = this.#previous.filter((one) => one !== host);
    const current = this.#generation.delete(host);
    if (reason !== "drained") this.#lastFailure = reason;
    this.#events.onExit(host, reason);
    if (!current || this.#stopping) return;
    if (Object.keys(host.graphs).length > 0) return this.#ensure();
    // it died before it was ready: the next one probably will, too
    this.#failedStarts += 1;
    // killed by somebody else it says nothing of the project, unless that happens again and again
    const enough = host.exitCode !== null ? 1 : host.endedByOthers ? MOST_KILLED_STARTS : 3;
    if (this.#failedStarts >= enough) this.#reportUnloadable(reason);
    if (host.exitCode === EXIT_CONFIG) return;
    const pause = Math.min(100 * 2 ** this.#failedStarts, MAX_RESTART_PAUSE_MS);
    setTimeout(() => this.#ensure(), pause).unref();
  }

  /** Nobody could even try to load the graphs; callers and the developer should hear why. */
  #reportUnloadable(error: string): void {
    if (this.#previous.length > 0 || this.#generation.size > 0) return;
    const { graphs } = this.#options.project;
    this.#graphs = Object.fromEntries(
      Object.entries(graphs).map(([id, { description }]) => [
        id,
        { ok: false, description, error: `the graph host ${error}` },
      ]),
    );
    this.#events.onGraphs(this.#graphs);
  }

  #tick(): void {
    const late = performance.now() - this.#lastTick > 4 * TICK_MS;
    // notes the thaw
    void this.wasFrozen;
    this.#lastTick = performance.now();
    for (const host of this.#hosts) {
      // after a freeze what the hosts have sent is read first: to write to one that is gone would discard it
      if (!late) host.tick();
      else if (host.state === "ready") host.forgiveSilence();
    }
    if (this.#failedStarts === 0) this.#ensure();
  }
}

const usable = (hosts: Iterable<GraphHost>): GraphHost[] => [...hosts].filter((host) => host.usable && !host.isolated);

const byRuns = (a: GraphHost, b: GraphHost): number => a.runs.size - b.runs.size;
