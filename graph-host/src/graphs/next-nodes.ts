import type { StateSnapshot } from "@langchain/langgraph";

/**
 * Returns the names of the nodes to run next. LangGraph.js 1.4 omits a task that has raised its second interrupt,
 * because it takes the answer to the first for a result.
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
