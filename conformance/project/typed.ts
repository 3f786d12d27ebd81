import { START, StateGraph } from "@langchain/langgraph";
import { registry } from "@langchain/langgraph/zod";
import { z } from "zod";

const State = z.object({
  add: z.number().optional(),
  total: z
    .number()
    .default(0)
    .register(registry, { reducer: { fn: (left: number, right: number) => left + right } }),
});
const Context = z.object({ factor: z.number().default(2) });

/** Adds `add`, multiplied by the context's factor, to its total; its types are schemas of zod. */
export const graph = new StateGraph(State, Context)
  .addNode("sum", ({ add }, { context }) => ({ total: (add ?? 1) * (context?.factor ?? 2) }))
  .addEdge(START, "sum")
  .compile();
