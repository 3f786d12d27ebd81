/**
 * The graph hosts of one server, a pool for each language of the project's graphs. A project with graphs of one
 * language starts no process of another.
 */
import { CheckpointDatabase } from "../../../../graph-host/src/checkpoints/checkpoint-database.ts";
import type {
  DataKeys,
  GraphStatus,
  HostCalls,
  LostTrace,
  RunStart,
  TraceDestination,
} from "../../../../host-kit/src/host-protocol.ts";
import { StateCipher } from "../../../../host-kit/src/state-cipher.ts";
import { notFound } from "../../base/errors.ts";
import { type Language, languageOf } from "../../base/graph-language.ts";
import type { Project } from "../project/read-project.ts";
import type { GraphHost, HostText } from "./graph-host.ts";
import type { HostLanguage } from "./host-language.ts";
import { HostPool, type HostPoolEvents, type HostPoolOptions, type Suspicion } from "./host-pool.ts";
import { javascriptHosts } from "./javascript-hosts.ts";
import { pythonHosts } from "./python-hosts.ts";

export interface GraphHostsOptions extends Omit<HostPoolOptions, "language" | "checkpoints"> {
  /** Interpreter for Python graphs; by default the one of the project's environment. */
  python: string | undefined;
  /** Whether graph hosts run the lifespan of the project's Python app. */
  runsLifespan: boolean;
}

export class GraphHosts {
  #options: GraphHostsOptions;
  readonly #events: HostPoolEvents;
  readonly #pools = new Map<Language, HostPool>();
  #traces: TraceDestination = { state: "off" };
  #listsWhole = false;
  #keys: DataKeys | undefined;
  #started = false;
  /** Connections for the checkpoints of hosts without access to the database, once there is one. */
  #checkpoints: CheckpointDatabase | undefined;
  #languages: ReadonlySet<Language>;

  constructor(options: GraphHostsOptions, events: HostPoolEvents) {
    this.#options = options;
    this.#events = events;
    this.#languages = languagesIn(options.project);
    for (const language of this.#languages) this.#open(language);
  }

  start(): void {
    this.#started = true;
    for (const pool of this.#pools.values()) pool.start();
  }

  /** Load status of each graph, or undefined while the first hosts start. */
  get graphs(): Record<string, GraphStatus> | undefined {
    const loaded = this.#all.map((pool) => pool.graphs);
    if (loaded.includes(undefined)) return undefined;
    const merged: Record<string, GraphStatus> = Object.assign({}, ...loaded);
    // in the order of langgraph.json
    const ids = Object.keys(this.#options.project.graphs).filter((id) => Object.hasOwn(merged, id));
    return Object.fromEntries(ids.map((id) => [id, merged[id]!]));
  }

  /** Graphs of the project, without those that failed to load. */
  get runnable(): string[] {
    return this.#all.flatMap((pool) => pool.runnable);
  }

  get all(): readonly GraphHost[] {
    return this.#all.flatMap((pool) => pool.all);
  }

  /** Hosts that were started, and those that ended although they were still needed, since the server's start. */
  get counts(): { started: number; lost: number } {
    const pools = this.#all.map(({ counts }) => counts);
    return {
      started: pools.reduce((sum, { started }) => sum + started, 0),
      lost: pools.reduce((sum, { lost }) => sum + lost, 0),
    };
  }

  /** See {@link HostPool.files}. */
  get files(): string[] | undefined {
    const files = this.#all.map((pool) => pool.files);
    return files.includes(undefined) ? undefined : (files as string[][]).flat();
  }

  get wasFrozen(): boolean {
    return this.#all.map((pool) => pool.wasFrozen).includes(true);
  }

  /** Version of the project's LangGraph in a language, once a host has loaded it. */
  langgraphVersion(language: Language): string | undefined {
    return this.#pools.get(language)?.langgraphVersion;
  }

  /** Whether a host of some language can take a run right now. */
  get hasCapacity(): boolean {
    return this.#all.some((pool) => pool.hasCapacity);
  }

  /** Whether the project has Python graphs. */
  get hasPython(): boolean {
    return this.#languages.has("python");
  }

  /** Throws when the graph cannot run: 404 unknown, 422 not loadable. */
  checkGraph(graphId: string): void {
    this.#poolOf(graphId).checkGraph(graphId);
  }

  /** See {@link HostPool.startRun}. */
  startRun(start: RunStart, kwargs: string, suspicion: Suspicion): boolean {
    return this.#poolOf(start.graph_id).startRun(start, kwargs, suspicion);
  }

  /** The host that executes this attempt of a run. */
  hostOf(runId: string, attempt: number): GraphHost | undefined {
    return this.all.find((host) => host.runs.get(runId)?.attempt === attempt);
  }

  cancelRun(runId: string, reason: string): GraphHost | undefined {
    for (const pool of this.#all) {
      const host = pool.cancelRun(runId, reason);
      if (host) return host;
    }
    return undefined;
  }

  holdEnd(runId: string): void {
    for (const pool of this.#all) pool.holdEnd(runId);
  }

  dropRun(runId: string): void {
    for (const pool of this.#all) pool.dropRun(runId);
  }

  /** Whether runs are traced. */
  get traces(): boolean {
    return this.#traces.state !== "off";
  }

  sendTracesTo(destination: TraceDestination): void {
    this.#traces = destination;
    for (const pool of this.#all) pool.sendTracesTo(destination);
  }

  /** Sets the keys of stored state. Hosts get them before they write any. */
  encryptWith(keys: DataKeys): void {
    this.#keys = keys;
    this.#checkpoints?.encryptWith(new StateCipher(keys));
    for (const pool of this.#all) pool.sendKeys(keys);
  }

  storeListsWhole(whole: boolean): void {
    this.#listsWhole = whole;
    for (const pool of this.#all) pool.storeListsWhole(whole);
  }

  /** Closes the trace of a run whose host is gone, through any other host. Best effort. */
  closeTrace(trace: LostTrace): void {
    const pool = this.#all.find((pool) => pool.hasCapacity) ?? this.#all[0];
    pool?.closeTrace(trace);
  }

  /** See {@link HostPool.call}. */
  async call<M extends keyof HostCalls>(
    method: M,
    params: HostCalls[M]["params"],
    options: { timeoutMs?: number } = {},
  ): Promise<HostText> {
    return this.#poolOf(params.graph_id).call(method, params, options);
  }

  /** Reloads the project in new processes. Active runs keep their hosts. */
  reload(project: Project): void {
    this.#options = { ...this.#options, project };
    const languages = (this.#languages = languagesIn(project));
    for (const [language, pool] of this.#pools) {
      if (languages.has(language)) pool.reload(partOf(project, language));
      else pool.retire(partOf(project, language));
    }
    for (const language of languages) if (!this.#pools.has(language)) this.#open(language);
  }

  /** Ends all hosts at once. The caller has taken care of their runs. */
  async stop(): Promise<void> {
    await Promise.all(this.#all.map((pool) => pool.stop()));
    await this.#checkpoints?.close();
  }

  get #all(): HostPool[] {
    return [...this.#pools.values()];
  }

  /** Whether the project has graphs in several languages. */
  get isMixed(): boolean {
    return this.#languages.size > 1;
  }

  /** Language of a graph; undefined if the project has no such graph. */
  languageOf(graphId: string): Language | undefined {
    const { graphs } = this.#options.project;
    return Object.hasOwn(graphs, graphId) ? languageOf(graphs[graphId]!.path) : undefined;
  }

  #poolOf(graphId: string): HostPool {
    const language = this.languageOf(graphId);
    const pool = language && this.#pools.get(language);
    if (!pool) throw notFound(`Graph "${graphId}" not found.`);
    return pool;
  }

  #open(language: Language): void {
    const options = {
      ...this.#options,
      project: partOf(this.#options.project, language),
      language: this.#hostsOf(language),
      debugPort: this.#debugPortOf(language),
      checkpoints: () => this.#openCheckpoints(),
    };
    const pool = new HostPool(options, {
      ...this.#events,
      onGraphs: () => {
        // the last language reports the reload of all
        if (this.#all.some(({ isReloading }) => isReloading)) return;
        const graphs = this.graphs;
        if (graphs !== undefined) this.#events.onGraphs(graphs);
      },
    });
    this.#pools.set(language, pool);
    pool.sendTracesTo(this.#traces);
    pool.storeListsWhole(this.#listsWhole);
    if (this.#keys) pool.sendKeys(this.#keys);
    if (this.#started) pool.start();
  }

  #openCheckpoints(): CheckpointDatabase {
    const { uri, socket } = this.#options.database;
    if (!this.#checkpoints) {
      this.#checkpoints = new CheckpointDatabase(uri, { socket });
      if (this.#keys) this.#checkpoints.encryptWith(new StateCipher(this.#keys));
    }
    return this.#checkpoints;
  }

  /** Port of a debugger: with graphs of two languages the JavaScript host has the next one. */
  #debugPortOf(language: Language): number | undefined {
    const { debugPort, project } = this.#options;
    return debugPort !== undefined && language === "javascript" && languagesIn(project).has("python")
      ? debugPort + 1
      : debugPort;
  }

  #hostsOf(language: Language): HostLanguage {
    return language === "python" ? pythonHosts(this.#options.python, this.#options.runsLifespan) : javascriptHosts;
  }
}

/** Languages of the project's graphs; JavaScript where it has no graphs. */
export function languagesIn({ graphs }: Pick<Project, "graphs">): Set<Language> {
  const languages = new Set(Object.values(graphs).map(({ path }) => languageOf(path)));
  return languages.size > 0 ? languages : new Set(["javascript"]);
}

/** The project with its graphs of one language only. */
const partOf = (project: Project, language: Language): Project => ({
  ...project,
  graphs: Object.fromEntries(Object.entries(project.graphs).filter(([, { path }]) => languageOf(path) === language)),
});
