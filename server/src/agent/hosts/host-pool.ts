/**
 * The graph hosts of one server for one language: `count` hosts that take runs and one warm reserve.
 *
 * A host that dies or falls silent is replaced at once by the reserve; a silent one that recovers is kept until it is
 * idle. When a host dies, the run at fault is unknown: all of its runs move to the reserve, away from other runs, and
 * those whose host dies again each get their own host, so that the run at fault affects no other run. So do the runs
 * of isolated graphs, from their first attempt.
 *
 * Calls other than runs go to the idlest host, usually the reserve, so that they are answered however busy the others
 * are. On reload a new generation of hosts starts; it gets all new work as soon as one of its hosts is ready, and the
 * old generation finishes its runs.
 */
import type {
  DataKeys,
  GraphStatus,
  HostCalls,
  LostTrace,
  RunStart,
  TraceDestination,
} from "../../../../host-kit/src/host-protocol.ts";
import { coerceError, notFound, unavailable, unprocessable } from "../../base/errors.ts";
import type { Project } from "../project/read-project.ts";
import {
  GraphHost,
  LostCallError,
  SUPERSEDED,
  type HostEvents,
  type HostOptions,
  type HostText,
} from "./graph-host.ts";
import type { HostLanguage, HostLaunch } from "./host-language.ts";
import { RecentHosts } from "./recent-hosts.ts";

const CLOSE_MS = 20_000;
const TICK_MS = 250;
/** Time within which the exits of hosts that ended during a freeze are noticed. */
const THAW_MS = 3000;
/** Longest delay of the server's stop by the last traces. */
const FLUSH_MS = 1500;
const MAX_RESTART_PAUSE_MS = 5000;
/** Most hosts that are started in advance for runs that wait for their own. */
const MOST_SPARE = 4;
/** Longest time for which the start of a further host is put off because runs are active. */
const YIELD_MS = 2000;
/** Time for which an idle host is kept for the next run of an isolated graph. */
const SPARE_MS = 60_000;
/** Consecutive starts killed from outside, half a minute's worth, after which the project counts as unloadable here. */
const MOST_KILLED_STARTS = 10;
/** Exit code of a host that reported an error in the project; a restart fails until the project changes. */
const EXIT_CONFIG = 78;

export interface HostPoolEvents extends Omit<HostEvents, "onReady"> {
  /** Called when a host can take waiting work. */
  onCapacity(): void;
  /** Called when a generation has loaded its graphs for the first time. */
  onGraphs(graphs: Record<string, GraphStatus>): void;
}

export interface HostPoolOptions extends Omit<HostOptions, "launch"> {
  language: HostLanguage;
  count: number;
  /** Most hosts that execute runs of isolated graphs at a time. */
  isolatedCount: number;
  /** Whether the project is reloaded when it changes: one that cannot be loaded is then not tried again before. */
  reloads: boolean;
}

/** Suspicion from a run's earlier attempts: none, may have crashed a host, last attempt. */
export type Suspicion = "none" | "quarantined" | "alone";

export class HostPool {
  #options: HostPoolOptions;
  readonly #events: HostPoolEvents;
  #hosts = new Set<GraphHost>();
  #generation = new Set<GraphHost>();
  /** The previous generation, serving until the new one is ready. */
  #previous: GraphHost[] = [];
  #graphs: Record<string, GraphStatus> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #lastTick = performance.now();
  #thawedAt = Number.NEGATIVE_INFINITY;
  #readyAt = 0;
  #failedStarts = 0;
  #stopping = false;
  #lastFailure = "";
  /** The project cannot be loaded until it changes. */
  #waitsForChange = false;
  /** Runs that wait for their own host; collected anew whenever hosts are offered. */
  readonly #waitAlone = new Set<string>();
  #traces: TraceDestination = { state: "off" };
  #listsWhole = false;
  #keys: DataKeys | undefined;
  readonly #recent = new RecentHosts();
  /** Hosts that were started, and those that ended although they were still needed. */
  readonly counts = { started: 0, lost: 0 };
  /** Undefined until the language's programs and packages were found. */
  #launch: HostLaunch | undefined;
  /** Whether the project has changed, and neither its graphs nor the reason why they do not load are known yet. */
  isReloading = false;
  /** Number of searches for them, so that only the newest counts. */
  #searches = 0;

  constructor(options: HostPoolOptions, events: HostPoolEvents) {
    this.#options = options;
    this.#events = events;
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    void this.#prepare();
  }

  /** Load status of each graph, or undefined while the first host starts. */
  get graphs(): Record<string, GraphStatus> | undefined {
    return this.#graphs;
  }

  /** Graphs of the project, without those that failed to load. */
  get runnable(): string[] {
    return Object.keys(this.#options.project.graphs).filter((id) => this.#graphs?.[id]?.ok !== false);
  }

  get all(): readonly GraphHost[] {
    return [...this.#hosts];
  }

  /**
   * Whether this process was recently suspended for so long that hosts must have considered it dead: their exit then
   * proves nothing about their runs.
   */
  get wasFrozen(): boolean {
    const now = performance.now();
    if (now - this.#lastTick > this.#options.silenceMs / 2) this.#thawedAt = now;
    return now - this.#thawedAt < THAW_MS;
  }

  /** Files of the project that its hosts have loaded; undefined while some may be missing. */
  get files(): string[] | undefined {
    const ready = usable(this.#generation);
    const isWhole = ready.length > 0 && Object.values(this.#graphs ?? {}).every(({ ok }) => ok);
    return isWhole ? this.all.flatMap((host) => [...host.files]) : undefined;
  }

  get langgraphVersion(): string | undefined {
    return [...this.#hosts].find((host) => host.langgraphVersion)?.langgraphVersion;
  }

  /** Whether `startRun` would find a host right now. */
  get hasCapacity(): boolean {
    return this.#ableForRun().length > 0;
  }

  /** Throws when the graph cannot run: 404 unknown, 422 not loadable. */
  checkGraph(graphId: string): void {
    if (!Object.hasOwn(this.#options.project.graphs, graphId)) throw notFound(`Graph "${graphId}" not found.`);
    const status = this.#graphs?.[graphId];
    if (status && !status.ok) throw unprocessable(`Graph "${graphId}" could not be loaded: ${status.error}`);
  }

  /** Dispatches a run to a host. False when none can take it; `onCapacity` is called when a retry is due. */
  startRun(start: RunStart, kwargs: string, suspicion: Suspicion): boolean {
    const { run_id: runId, graph_id: graphId, thread_id: threadId } = start;
    const isIsolated = this.#isIsolating && this.#options.project.isolated.has(graphId);
    const isAlone = isIsolated || suspicion === "alone";
    if (isIsolated && this.all.filter((host) => host.isolated).length >= this.#options.isolatedCount) return false;
    const host = isAlone
      ? this.#pickAlone(runId)
      : suspicion === "quarantined"
        ? this.#idlest()
        : this.#recent.choose(threadId, this.#ableForRun());
    if (!host) return false;
    this.#recent.note(threadId, host);
    host.isolated = isAlone;
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

  /** Lets the server write the run's end. */
  holdEnd(runId: string): void {
    for (const host of this.#hosts) if (host.runs.has(runId)) host.holdEnd(runId);
  }

  /** Stops a run that another server owns now; its further frames are ignored. */
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

  /** Hands over the keys of stored state. */
  sendKeys(keys: DataKeys): void {
    this.#keys = keys;
    for (const host of this.#hosts) host.sendKeys(keys);
  }

  /** Makes the hosts store long lists whole, or as changes. */
  storeListsWhole(whole: boolean): void {
    this.#listsWhole = whole;
    for (const host of this.#hosts) host.storeListsWhole(whole);
  }

  /** Closes the trace of a run whose host is gone, through another host. Best effort. */
  closeTrace(trace: LostTrace): void {
    if (!this.traces) return;
    const host = this.#idlest();
    if (host) host.closeTrace(trace);
    // orphans found when the server starts are found before its hosts are ready
    else
      void this.#untilUsable(CLOSE_MS).then(
        (host) => host.closeTrace(trace),
        () => {},
      );
  }

  /**
   * Calls any host. Retries up to twice when the host dies or is blocked, unless the call changes state.
   * @returns raw JSON text
   */
  async call<M extends keyof HostCalls>(
    method: M,
    params: HostCalls[M]["params"],
    options: { timeoutMs?: number } = {},
  ): Promise<HostText> {
    const timeoutMs = options.timeoutMs ?? 30_000;
    this.checkGraph(params.graph_id);
    for (let attempt = 1; ; attempt++) {
      const host = this.#idlest() ?? (await this.#untilUsable(timeoutMs));
      this.checkGraph(params.graph_id);
      try {
        return await host.call(method, params, timeoutMs);
      } catch (error) {
        if (!(error instanceof LostCallError) || attempt === 3 || method === "state.update") throw error;
      }
    }
  }

  /** Reloads the project in new processes. Active runs keep their hosts. */
  reload(project: Project): void {
    this.#options = { ...this.#options, project };
    this.isReloading = true;
    this.#replaceGeneration();
    void this.#prepare();
  }

  /** Starts no more hosts, because the project has no graph of this language any more. Active runs keep theirs. */
  retire(project: Project): void {
    this.#options = { ...this.#options, project };
    this.#searches += 1;
    this.#launch = undefined;
    this.#graphs = {};
    this.#replaceGeneration();
    for (const old of this.#previous.splice(0)) old.drain();
  }

  #replaceGeneration(): void {
    // a generation that was never ready has no runs
    for (const host of this.#generation) {
      if (host.state === "starting") host.kill(SUPERSEDED);
      else this.#previous.push(host);
    }
    this.#generation = new Set();
    this.#failedStarts = 0;
    // the next one needs its port
    if (this.#options.debugPort !== undefined) for (const old of this.#previous) old.drain();
  }

  /** Finds the language's programs and packages; without them no host is started. */
  async #prepare(): Promise<void> {
    const search = ++this.#searches;
    this.#launch = undefined;
    this.#waitsForChange = false;
    const { language, project, log } = this.#options;
    const found = await language
      .prepare(project)
      .catch((error: unknown) => ({ problem: `The graphs could not be loaded: ${coerceError(error).message}` }));
    if (search !== this.#searches) return;
    if ("launch" in found) {
      if (found.warning !== undefined) log.warn(found.warning);
      this.#launch = found.launch;
      return this.#ensure();
    }
    this.#waitsForChange = true;
    for (const old of this.#previous.splice(0)) old.drain();
    this.#reportUnloadable(found.problem);
  }

  /** Ends all hosts at once. The caller has taken care of their runs. */
  async stop(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#timer);
    if (this.traces) await Promise.all(this.all.map((host) => host.flushTraces(FLUSH_MS)));
    const exits = [...this.#hosts].map(
      (host) =>
        new Promise<void>((resolve) => {
          const check = setInterval(() => {
            if (host.state !== "dead") return;
            clearInterval(check);
            resolve();
          }, 10);
          host.close("the server stopped");
        }),
    );
    await Promise.all(exits);
  }

  /** The `count` busiest hosts, so that one host stays idle; the least busy of them last. */
  #ableForRun(): GraphHost[] {
    const hosts = usable(this.#generation);
    if (hosts.length === 0) return usable(this.#previous).sort((a, b) => byRuns(b, a));
    return hosts.sort((a, b) => byRuns(b, a)).slice(0, this.#options.count);
  }

  /** Hosts that take runs and the reserve. A debugger attaches to one process, which then does everything. */
  get #wanted(): number {
    return this.#options.debugPort === undefined ? this.#options.count + 1 : 1;
  }

  #idlest(): GraphHost | undefined {
    return usable(this.#generation).sort(byRuns)[0] ?? usable(this.#previous).sort(byRuns)[0];
  }

  #pickAlone(runId: string): GraphHost | undefined {
    const ready = usable(this.#generation);
    const idle = (ready.length > 0 ? ready : usable(this.#previous)).find((host) => host.runs.size === 0);
    if (idle) this.#waitAlone.delete(runId);
    else this.#waitAlone.add(runId);
    this.#ensure();
    return idle;
  }

  /** Whether runs of some graphs get their own hosts. A debugger attaches to one process. */
  get #isIsolating(): boolean {
    return this.#options.project.isolated.size > 0 && this.#options.debugPort === undefined;
  }

  /** Hosts wanted in addition, for runs that wait for their own. */
  get #spare(): number {
    return Math.min(this.#waitAlone.size, MOST_SPARE);
  }

  /** Offers hosts to waiting runs. */
  #offer(): void {
    this.#waitAlone.clear();
    this.#events.onCapacity();
    this.#ensure();
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
    if (this.#stopping || this.#waitsForChange || !this.#launch) return;
    const able = [...this.#generation].filter((host) => !host.isolated && !host.suspect && host.state !== "draining");
    // one at a time: a start takes a whole core, which runs waiting for the first host need too
    if (able.some((host) => host.state === "starting")) return;
    // the first runs need that core, too: their code is compiled
    const pause = able.some((host) => host.runs.size > 0) ? YIELD_MS : TICK_MS;
    if (able.length > 0 && this.#waitAlone.size === 0 && performance.now() - this.#readyAt < pause) return;
    if (able.length < this.#wanted + this.#spare) this.#spawn(this.#launch);
  }

  #spawn(launch: HostLaunch): void {
    const host: GraphHost = new GraphHost(
      { ...this.#options, launch },
      {
        ...this.#events,
        onReady: () => this.#ready(host),
        onRunEnd: (end, result) => {
          this.#events.onRunEnd(end, result);
          this.#retire(host);
        },
        onExit: (_, reason) => this.#exited(host, reason),
      },
    );
    this.counts.started += 1;
    this.#hosts.add(host);
    this.#generation.add(host);
    host.start();
    if (this.traces) host.sendTracesTo(this.#traces);
    if (this.#keys) host.sendKeys(this.#keys);
    if (this.#listsWhole) host.storeListsWhole(true);
  }

  #ready(host: GraphHost): void {
    this.#readyAt = performance.now();
    this.#failedStarts = 0;
    this.#options.log.info({ pid: host.pid, langgraph: host.langgraphVersion }, "a graph host is ready");
    if (this.#generation.has(host)) {
      for (const old of this.#previous.splice(0)) old.drain();
      const isNew = this.isReloading || JSON.stringify(this.#graphs) !== JSON.stringify(host.graphs);
      this.isReloading = false;
      if (isNew) {
        this.#graphs = host.graphs;
        this.#events.onGraphs(host.graphs);
      }
    }
    this.#offer();
  }

  /** Drains a host that is idle and no longer needed. */
  #retire(host: GraphHost): void {
    if (host.runs.size > 0) return;
    // its run has ended without harm
    host.isolated = false;
    host.idleSince = performance.now();
    if (!this.#isIsolating) this.#drainSurplus(host);
    this.#offer();
  }

  #drainSurplus(host: GraphHost): void {
    const able = usable(this.#generation);
    if (able.length <= this.#wanted + this.#spare || host.runs.size > 0 || !able.includes(host)) return;
    this.#generation.delete(host);
    host.drain();
  }

  #exited(host: GraphHost, reason: string): void {
    this.#hosts.delete(host);
    this.#recent.forget(host);
    this.#previous = this.#previous.filter((other) => other !== host);
    const current = this.#generation.delete(host);
    if (reason !== "drained") this.#lastFailure = reason;
    this.#events.onExit(host, reason);
    if (!current || this.#stopping) return;
    this.counts.lost += 1;
    if (Object.keys(host.graphs).length > 0) return this.#ensure();
    // it died before it was ready, so the next one probably will, too
    this.#failedStarts += 1;
    // a kill from outside is not evidence against the project, unless it happens repeatedly
    const enough = host.exitCode !== null || host.isOverdue ? 1 : host.endedByOthers ? MOST_KILLED_STARTS : 3;
    if (this.#failedStarts >= enough) {
      this.#reportUnloadable(`the graph host ${reason}`);
      this.#waitsForChange ||= host.exitCode === EXIT_CONFIG || this.#options.reloads;
    }
    if (this.#waitsForChange) return;
    const pause = Math.min(100 * 2 ** this.#failedStarts, MAX_RESTART_PAUSE_MS);
    setTimeout(() => this.#ensure(), pause).unref();
  }

  /** Reports all graphs as unloadable, with the reason, to callers and the developer. */
  #reportUnloadable(error: string): void {
    const isReload = this.isReloading;
    this.isReloading = false;
    if (this.#previous.length > 0 || this.#generation.size > 0) return;
    const { graphs } = this.#options.project;
    const unloadable: Record<string, GraphStatus> = Object.fromEntries(
      Object.entries(graphs).map(([id, { description }]) => [id, { ok: false, description, error }]),
    );
    // reported once for each change, however often it is tried
    if (!isReload && JSON.stringify(this.#graphs) === JSON.stringify(unloadable)) return;
    this.#graphs = unloadable;
    this.#events.onGraphs(unloadable);
  }

  #tick(): void {
    const late = performance.now() - this.#lastTick > 4 * TICK_MS;
    // updates the time of the last thaw
    void this.wasFrozen;
    this.#lastTick = performance.now();
    for (const host of this.#hosts) {
      // after a freeze, frames sent by the hosts are read first: a write to an exited one would discard them
      if (!late) host.tick();
      else if (host.state === "ready") host.forgiveSilence();
    }
    if (this.#isIsolating)
      for (const host of this.#generation) if (this.#lastTick - host.idleSince > SPARE_MS) this.#drainSurplus(host);
    if (this.#failedStarts === 0) this.#ensure();
  }
}

const usable = (hosts: Iterable<GraphHost>): GraphHost[] => [...hosts].filter((host) => host.usable && !host.isolated);

const byRuns = (a: GraphHost, b: GraphHost): number => a.runs.size - b.runs.size;
