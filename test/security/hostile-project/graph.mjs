import { readFileSync } from "node:fs";

import { Annotation, StateGraph } from "@langchain/langgraph";

import { attack, ownWork } from "./attack.mjs";

const targets = JSON.parse(readFileSync(new URL("targets.json", import.meta.url), "utf8"));
const State = Annotation.Root({ succeeded: Annotation(), failed: Annotation() });
export const graph = new StateGraph(State)
  .addNode("attack", async () => ({ succeeded: await attack(targets), failed: ownWork() }))
  .addEdge("__start__", "attack")
  .addEdge("attack", "__end__")
  .compile();
