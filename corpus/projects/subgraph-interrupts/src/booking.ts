import { Command, interrupt, StateGraph } from "@langchain/langgraph";
import * as z from "zod";

export const Booking = z.object({
  city: z.string().default(""),
  hotel: z.string().default(""),
  log: z.array(z.string()).default([]),
});

export const booking = new StateGraph(Booking)
  .addNode("choose", ({ city, log }) => {
    const hotel = interrupt<{ ask: string }, string>({ ask: `Which hotel in ${city}?` });
    return { hotel, log: [...log, "chosen"] };
  })
  .addNode(
    "confirm",
    ({ hotel, log }) => {
      const isConfirmed = interrupt<{ confirm: string }, boolean>({ confirm: hotel });
      if (!isConfirmed) return new Command({ goto: "choose" });
      return new Command({ graph: Command.PARENT, goto: "done", update: { hotel, log: [...log, "confirmed"] } });
    },
    { ends: ["choose"] },
  )
  .addEdge("__start__", "choose")
  .addEdge("choose", "confirm")
  .compile();
