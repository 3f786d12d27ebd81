import { Annotation, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ deaths: Annotation<number>(), log: Annotation<string[]>() });

/** Kills its process in the first `deaths` attempts, after a while in which it is traced. */
export const graph = new StateGraph(State)
  .addNode("prepare", () => ({ log: ["prepared"] }))
  .addNode("die", async ({ deaths, log }, config: LangGraphRunnableConfig) => {
    await new Promise((done) => setTimeout(done, 700));
    if (Number(config.metadata?.["run_attempt"]) <= deaths) process.kill(process.pid, "SIGKILL");
    return { log: [...log, "survived"] };
  })
  .addEdge(START, "prepare")
  .addEdge("prepare", "die")
  .compile();
