import { Annotation, START, StateGraph } from "@langchain/langgraph";
import { sleepFor, step, waitForSignal } from "./steps.ts";

const State = Annotation.Root({
  /** Seconds after which an unpaid order is cancelled. */
  patience: Annotation<number>({ reducer: (_old, next) => next, default: () => 60 }),
  /** Seconds between packing and shipping. */
  packing: Annotation<number>({ reducer: (_old, next) => next, default: () => 0 }),
  log: Annotation<string[]>({ reducer: (old, next) => [...old, ...next], default: () => [] }),
});

/** A call to another system, which knows the key of each request. */
const order = async (what: string) => step(what, (key) => `${what} ${key}`);

async function pay({ patience }: typeof State.State) {
  const invoice = await order("invoice");
  const deadline = await step("deadline", () => Date.now() + patience * 1000);
  const paid = waitForSignal<{ amount: number }>("paid", new Date(deadline));
  return { log: [invoice, paid ? `paid ${paid.amount}` : "not paid"] };
}

async function ship({ log, packing }: typeof State.State) {
  if (log.at(-1) === "not paid") return { log: ["cancelled"] };
  if (packing > 0) await sleepFor(packing * 1000);
  return { log: [await order("parcel")] };
}

export const graph = new StateGraph(State)
  .addNode("pay", pay)
  .addNode("ship", ship)
  .addEdge(START, "pay")
  .addEdge("pay", "ship")
  .compile({ name: "order" });
