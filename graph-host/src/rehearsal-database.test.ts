import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { expect, test } from "vitest";

import { HeddleSaver } from "./checkpoints/heddle-saver.ts";
import { rehearsalDatabase } from "./rehearsal-database.ts";

test("a thread's next run reads the state of the previous one", async () => {
  const database = rehearsalDatabase();
  const State = Annotation.Root({
    log: Annotation<string[]>({ reducer: (all, more) => all.concat(more), default: () => [] }),
  });
  const run = (what: string) =>
    new StateGraph(State)
      .addNode("say", () => ({ log: [what] }))
      .addEdge(START, "say")
      .addEdge("say", END)
      .compile({ checkpointer: new HeddleSaver(database, { fence: { runId: "r", attempt: 1 } }) })
      .invoke({ log: [] }, { configurable: { thread_id: "t" } });
  expect(await run("one")).toEqual({ log: ["one"] });
  expect(await run("two")).toEqual({ log: ["one", "two"] });
});
