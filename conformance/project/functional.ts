import { entrypoint, interrupt, task } from "@langchain/langgraph";

const double = task("double", (n: number) => Promise.resolve(n * 2));

/** The functional API: a task, and a question to a human. */
export const graph = entrypoint("functional", async ({ n }: { n: number }) => {
  const doubled = await double(n);
  return { doubled, answer: interrupt("sure?") as string };
});
