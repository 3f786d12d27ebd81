import type { RunnableConfig } from "@langchain/core/runnables";
import { Annotation, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ input: Annotation<unknown>(), seen: Annotation<unknown>() });
const Context = Annotation.Root({ tone: Annotation<string | undefined>(), model: Annotation<string | undefined>() });

/** Returns what a node can see of its run: configurable, context, tags, metadata, environment. */
export const graph = new StateGraph(State, Context)
  .addNode("look", ({ input }, config: RunnableConfig & { context?: unknown }) => {
    const configurable = Object.fromEntries(
      Object.entries(config.configurable ?? {}).filter(([key]) => !key.startsWith("__")),
    );
    return {
      seen: {
        input,
        configurable,
        context: config.context ?? null,
        tags: config.tags ?? [],
        metadata: config.metadata ?? {},
        greeting: process.env["CONFORMANCE_GREETING"] ?? null,
      },
    };
  })
  .addEdge(START, "look")
  .compile();
