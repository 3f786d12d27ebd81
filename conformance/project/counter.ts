import { START, StateGraph } from "@langchain/langgraph";
import { registry } from "@langchain/langgraph/zod";
import { z } from "zod";

const State = z.object({
  add: z.number().optional(),
  total: z
    .number()
    .default(0)
    .register(registry, { reducer: { fn: (left: number, right: number) => left + right } }),
  trail: z
    .array(z.string())
    .default(() => [])
    .register(registry, { reducer: { fn: (left: string[], right: string[]) => left.concat(right) } }),
});

/** Adds `add`, then doubles the total. */
export const graph = new StateGraph(State)
  .addNode("increment", ({ add }) => ({ total: add ?? 1, trail: [`+${add ?? 1}`] }))
  .addNode("double", ({ total }) => ({ total, trail: ["*2"] }))
  .addEdge(START, "increment")
  .addEdge("increment", "double")
  .compile();
