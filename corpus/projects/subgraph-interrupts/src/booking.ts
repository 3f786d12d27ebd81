import { Command, interrupt, StateGraph } from "@langchain/langgraph";
import { withLangGraph } from "@langchain/langgraph/zod";
import * as z from "zod";

const lines = z.array(z.string());

export const Booking = z.object({
  city: z.string(),
  hotel: z.string().optional(),
  // LangGraph ignores the defaults of zod for channels
  log: withLangGraph(lines, { default: () => [], reducer: { fn: (log, added) => [...log, ...added], schema: lines } }),
});

export const booking = new StateGraph(Booking)
  .addNode("choose", ({ city }) => {
    const hotel = interrupt<{ ask: string }, string>({ ask: `Which hotel in ${city}?` });
    return { hotel, log: ["chosen"] };
  })
  .addNode(
    "confirm",
    ({ hotel }) => {
      const isConfirmed = interrupt<{ confirm: string }, boolean>({ confirm: hotel! });
      if (!isConfirmed) return new Command({ goto: "choose" });
      return new Command({ graph: Command.PARENT, goto: "done", update: { hotel, log: ["confirmed"] } });
    },
    { ends: ["choose"] },
  )
  .addEdge("__start__", "choose")
  .addEdge("choose", "confirm")
  .compile();
