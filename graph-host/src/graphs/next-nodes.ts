import type { StateSnapshot } from "@langchain/langgraph";

/**
 * Names of the nodes that are to run next. LangGraph.js 1.4 leaves out a task that asks its second question, because it
 * takes the answer to the first for a result.
 */
export function nextNodes({ next, tasks }: Pick<StateSnapshot, "next" | "tasks">): string[] {
  if (tasks.every((task) => task.interrupts.length === 0)) return next;
  const left = [...next];
  return tasks.flatMap(({ name, interrupts }) => {
    const at = left.indexOf(name);
    if (at >= 0) return left.splice(at, 1);
    return interrupts.length > 0 ? [name] : [];
  });
}
