import { entrypoint, interrupt, task } from "@langchain/langgraph";

const double = task("double", async (n) => n * 2);

export const workflow = entrypoint("workflow", async (n) => {
  const doubled = await double(n);
  return { result: doubled + interrupt({ doubled }) };
});
