import * as langchain from "@langchain/core/tracers/tracer_langchain";
import { RunTree } from "langsmith";

import type { RunRecorder } from "./run-recorder.ts";
import { orderSegment, toIso, TraceClock } from "./trace-clock.ts";

const { LangChainTracer } = langchain;
type Fields = NonNullable<ConstructorParameters<typeof LangChainTracer>[0]>;
/** Run as LangChain's base class describes it. */
type StartedRun = Parameters<langchain.LangChainTracer["_addRunToRunMap"]>[0];
type Tree = InstanceType<typeof RunTree>;
type Recorder = Pick<RunRecorder, "begin" | "end">;
type ChildConfig = Parameters<Tree["createChild"]>[0];

/** Keys for which a nested tracer's metadata takes precedence; older versions have none. */
const OVERRIDABLE: ReadonlySet<string> =
  (langchain as Partial<typeof langchain>).OVERRIDABLE_LANGSMITH_INHERITABLE_METADATA_KEYS ?? new Set();
/** LangChain's own description of the runtime; the client adds its own. */
const RUNTIME = { library: "langchain-js", runtime: "node" };

/**
 * LangChain's tracer, recording runs instead of posting them. What a run contains is decided by the base class of the
 * project's own version; this class only replaces what happens to it: the original creates a RunTree with thirty calls
 * of `Object.defineProperty` at each event, copies it, and passes it through several promises and queues.
 *
 * A run in `runTreeMap` is at the same time the RunTree that `traceable` finds in its AsyncLocalStorage.
 */
export class RunTracer extends LangChainTracer {
  /** Events are recorded as they happen: a background queue costs more than the recording, and delays the times. */
  override awaitHandlers = true;
  readonly #recorder: Recorder | undefined;
  readonly #clock: TraceClock;

  /** @param recorder absent for a trace that is not sampled */
  constructor(fields: Fields, recorder: Recorder | undefined, clock = new TraceClock()) {
    super(fields);
    this.#recorder = recorder;
    this.#clock = clock;
    this.#createChild = exactChildren(clock);
    // versions before 0.3.45 look runs up in `runMap` and have no other map
    this.runTreeMap ??= new Map();
    this.runMap = this.runTreeMap as unknown as typeof this.runMap;
  }

  protected override getRunById(id?: string): StartedRun | undefined {
    return id === undefined ? undefined : (this.runTreeMap.get(id) as StartedRun | undefined);
  }

  override getRun(id: string): ReturnType<langchain.LangChainTracer["getRun"]> {
    return this.runTreeMap.get(id) as ReturnType<langchain.LangChainTracer["getRun"]>;
  }

  override getRunTreeWithTracingConfig(id: string): Tree | undefined {
    return this.runTreeMap.get(id);
  }

  /** Has the same purpose in versions of LangChain before 0.3.45. */
  convertToRunTree(id: string): Tree | undefined {
    return this.runTreeMap.get(id);
  }

  override _addRunToRunMap(run: StartedRun): StartedRun {
    const parent = run.parent_run_id === undefined ? undefined : this.runTreeMap.get(run.parent_run_id);
    const start = toIso(this.#clock.start());
    const segment = orderSegment(start, run.id);
    if (run.events[0]) run.events[0].time = start;
    if (parent) {
      parent.child_execution_order = Math.max(parent.child_execution_order, run.child_execution_order);
    }
    const tree = {
      __proto__: RunTree.prototype,
      id: run.id,
      name: run.name,
      run_type: run.run_type,
      project_name: this.projectName,
      parent_run: parent,
      parent_run_id: parent?.id,
      child_runs: [],
      start_time: start,
      end_time: undefined,
      extra: { ...run.extra, runtime: RUNTIME, metadata: this.#metadata(run) },
      tags: this.tracingTags?.length > 0 ? [...new Set([...(run.tags ?? []), ...this.tracingTags])] : run.tags,
      error: undefined,
      serialized: run.serialized,
      inputs: run.inputs,
      outputs: undefined,
      reference_example_id: this.exampleId,
      client: this.client,
      events: run.events,
      trace_id: parent?.trace_id ?? run.id,
      dotted_order: parent ? `${parent.dotted_order}.${segment}` : segment,
      tracingEnabled: true,
      execution_order: run.execution_order,
      child_execution_order: run.child_execution_order,
      attachments: undefined,
      // an empty list, because otherwise children are sent to the replicas that the environment names
      replicas: [],
      distributedParentId: undefined,
      _serialized_start_time: start,
      createChild: this.#createChild,
    } as unknown as Tree;
    this.runTreeMap.set(run.id, tree);
    if (!isDeferred(tree)) this.#recorder?.begin(tree, this);
    return tree as unknown as StartedRun;
  }

  protected override _endTrace(run: StartedRun): Promise<void> {
    const tree = run as unknown as Tree;
    const end = toIso(this.#clock.now());
    Object.assign(run, { end_time: end });
    const last = run.events.at(-1);
    if (last?.name === "end" || last?.name === "error") last.time = end;
    this.runTreeMap.delete(run.id);
    if (isDeferred(tree)) this.#recorder?.begin(tree, this);
    else this.#recorder?.end(tree, this);
    return DONE;
  }

  /** Runs are recorded when they are added and when they end. */
  override onRunCreate(): Promise<void> {
    return DONE;
  }

  override onRunUpdate(): Promise<void> {
    return DONE;
  }

  /** Leaves out the token, which a trace does not contain. */
  override handleLLMNewToken(
    ...[, , runId]: Parameters<langchain.LangChainTracer["handleLLMNewToken"]>
  ): Promise<StartedRun> {
    const run = this.getRunById(runId);
    run?.events.push({ name: "new_token", time: toIso(this.#clock.now()) });
    return Promise.resolve(run!);
  }

  override copyWithTracingConfig({ metadata, tags }: { metadata?: Record<string, unknown>; tags?: string[] }) {
    const { tracingMetadata: own = {}, tracingTags } = this;
    const added = Object.entries(metadata ?? {}).filter(([key]) => !Object.hasOwn(own, key) || OVERRIDABLE.has(key));
    const newTags = tags?.filter((tag) => !tracingTags.includes(tag)) ?? [];
    // most runnables within a graph have nothing to add
    if (added.every(([key, value]) => own[key] === value) && newTags.length === 0) return this;
    const fields = {
      ...this.fields,
      metadata: { ...own, ...Object.fromEntries(added) },
      tags: [...tracingTags, ...newTags],
    };
    const copy = new RunTracer(fields, this.#recorder, this.#clock);
    copy.runTreeMap = this.runTreeMap;
    copy.runMap = this.runMap;
    return copy;
  }

  /** Registers a run that `traceable` created, so that LangChain's runs below it find their parent. */
  override updateFromRunTree(tree: Tree): void {
    const runs = this.runTreeMap as typeof this.runTreeMap | undefined;
    // the constructor of the base class calls this, in older versions before the map exists
    if (!runs) return;
    for (let next: Tree | undefined = tree; next && !runs.has(next.id); next = next.parent_run) runs.set(next.id, next);
  }

  #metadata(run: StartedRun): Record<string, unknown> {
    const metadata = { ...(run.extra?.["metadata"] as Record<string, unknown> | undefined) };
    const inherited = this.tracingMetadata;
    for (const key in inherited) {
      if (!Object.hasOwn(metadata, key) || OVERRIDABLE.has(key)) metadata[key] = inherited[key];
    }
    return metadata;
  }

  /**
   * Replaces `createChild` of a tree: children by the library have times in milliseconds, which may be before their
   * parent's.
   */
  readonly #createChild: Tree["createChild"];
}

const DONE = Promise.resolve();

/** Whether the input is known at the end only; such a run is recorded then. */
const isDeferred = (tree: Tree): boolean => Boolean((tree.extra as Record<string, unknown>)["lc_defers_inputs"]);

function exactChildren(clock: TraceClock) {
  return function createChild(this: Tree, config: ChildConfig): Tree {
    const child = RunTree.prototype.createChild.call(this, config);
    child.createChild = createChild;
    child.end = end;
    if (config.start_time === undefined) {
      const start = toIso(clock.start());
      Object.assign(child, { _serialized_start_time: start });
      child.dotted_order = `${this.dotted_order}.${orderSegment(start, child.id)}`;
    }
    return child;
  };

  function end(this: Tree, ...values: Parameters<Tree["end"]>): Promise<void> {
    const isGiven = values[2] !== undefined || this.end_time !== undefined;
    const ended = RunTree.prototype.end.apply(this, values);
    if (!isGiven) Object.assign(this, { end_time: toIso(clock.now()) });
    return ended;
  }
}
