import { Annotation } from "@langchain/langgraph";

export interface Todo {
  question: string;
  status: "open" | "done";
}

export interface Finding {
  question: string;
  source: string;
  text: string;
}

/** Sub-agents run at the same time, so each writes the entry of its own question, and the reducer merges them. */
export const todos = Annotation<Todo[]>({
  reducer: (old, next) => {
    const merged = new Map([...old, ...next].map((todo) => [todo.question, todo]));
    return [...merged.values()];
  },
  default: () => [],
});

export const findings = Annotation<Finding[]>({ reducer: (old, next) => [...old, ...next], default: () => [] });
