import type { Runtime } from "@langchain/langgraph";
import type { RunnableConfig } from "@langchain/core/runnables";
import { START, StateGraph } from "@langchain/langgraph";
import { z } from "zod";

const State = z.object({ input: z.any(), seen: z.any() });
const Context = z.object({ tone: z.string().optional(), model: z.string().optional() });

/** Returns what a node can see of its run: configurable, context, tags, metadata, environment. */
export const graph = new StateGraph(State, { context: Context })
  .addNode("look", ({ input }, config: RunnableConfig & Runtime<z.infer<typeof Context>>) => {
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
