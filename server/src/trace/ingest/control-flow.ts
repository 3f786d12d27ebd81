/** Exceptions by which LangGraph leaves a node that asks a question or hands control to its parent graph, or drains. */
const NAMES = "GraphInterrupt|NodeInterrupt|ParentCommand|GraphDrained|GraphBubbleUp";
const NAMED = new RegExp(`^(?:[\\w.]+\\.)?(?:${NAMES})\\b`);
const STACK = new RegExp(`\\n\\n(?:${NAMES})(?:: |(?=\\n|$))`);

/**
 * Whether an error only says that the graph left the run on purpose. Python's tracers write the name of the exception
 * first; LangChain's in JavaScript writes the message, and after it the stack, which begins with the name and the message.
 */
export function isControlFlow(error: string): boolean {
  if (NAMED.test(error)) return true;
  const stack = STACK.exec(error);
  return stack !== null && error.startsWith(error.slice(0, stack.index), stack.index + stack[0].length);
}
