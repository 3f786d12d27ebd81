import { GroupCommit } from "../../base/db/group-commit.ts";

/**
 * Groups calls into statements that lock their threads in the order of their ids. All statements that lock several
 * threads do so, which rules out deadlocks between them.
 */
export function sortedGroupCommit<In extends { threadId: string }, Out>(
  run: (inputs: In[]) => Promise<Out[]>,
): GroupCommit<In, Out> {
  return new GroupCommit<In, Out>(async (inputs) => {
    if (inputs.length === 1) return run(inputs);
    const order = inputs.map((_, i) => i).sort((a, b) => (inputs[a]!.threadId < inputs[b]!.threadId ? -1 : 1));
    const outputs = await run(order.map((i) => inputs[i]!));
    const back: Out[] = Array.from({ length: inputs.length });
    order.forEach((i, at) => (back[i] = outputs[at]!));
    return back;
  });
}
