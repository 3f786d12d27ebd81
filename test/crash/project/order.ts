import { Annotation, interrupt, START, StateGraph, task } from "@langchain/langgraph";

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (all, added) => [...all, ...added], default: () => [] }),
});

const call = task("call", async (what: string) => what);

/** Waits for a signal between two steps that are done once. */
export const graph = new StateGraph(State)
  .addNode("pay", async () => {
    const invoice = await call("invoice");
    const { payload } = interrupt<object, { payload: { amount: number } }>({ heddle_wait: { signal: "paid" } });
    return { log: [invoice, `paid ${payload.amount}`] };
  })
  .addNode("ship", async () => ({ log: [await call("parcel")] }))
  .addEdge(START, "pay")
  .addEdge("pay", "ship")
  .compile();
