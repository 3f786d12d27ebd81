import { Annotation, START, StateGraph, type LangGraphRunnableConfig } from "@langchain/langgraph";

/** Lists are appended and counts are summed, so that the graphs can write without reading first. */
const State = Annotation.Root({
  question: Annotation<string>,
  findings: Annotation<string[]>({ reducer: (old, next) => [...old, ...next], default: () => [] }),
  pages: Annotation<number>({ reducer: (old, next) => old + next, default: () => 0 }),
  answer: Annotation<string>,
});

/** Input of a subgraph: the question alone. Given the lists too, it would return them a second time. */
const Question = Annotation.Root({ question: Annotation<string> });

const LIBRARY = ["warp", "weft", "shed", "reed"];

function read(state: typeof State.State, config: LangGraphRunnableConfig) {
  const findings: string[] = [];
  for (const [index, book] of LIBRARY.entries()) {
    config.writer?.({ reading: book, done: index + 1, of: LIBRARY.length });
    findings.push(`${book}: ${state.question.length * (index + 1)} words on "${state.question}"`);
  }
  return { findings, pages: LIBRARY.length };
}

function note(state: typeof State.State, config: LangGraphRunnableConfig) {
  config.writer?.({ noted: state.findings.length });
  return { findings: [`noted after ${state.pages} pages`] };
}

/** Innermost graph: reads and takes a note. */
const search = new StateGraph({ stateSchema: State, input: Question })
  .addNode("read", read)
  .addNode("note", note)
  .addEdge(START, "read")
  .addEdge("read", "note")
  .compile({ name: "search" });

/** Middle graph: rewrites the question and has it searched. */
const research = new StateGraph({ stateSchema: State, input: Question })
  .addNode("plan", (state) => ({ question: state.question.trim() }))
  .addNode("search", search)
  .addEdge(START, "plan")
  .addEdge("plan", "search")
  .compile({ name: "research" });

export const graph = new StateGraph(State)
  .addNode("research", research)
  .addNode("write", (state) => ({ answer: `${state.question}: ${state.findings.length} findings` }))
  .addEdge(START, "research")
  .addEdge("research", "write")
  .compile({ name: "nested" });
