import { StateGraph } from "@langchain/langgraph";

import { Booking, booking } from "./booking.js";

export const graph = new StateGraph(Booking)
  .addNode("book", booking, { ends: ["done"] })
  .addNode("done", ({ hotel }) => ({ log: [`done with ${hotel}`] }))
  .addEdge("__start__", "book")
  .compile();
