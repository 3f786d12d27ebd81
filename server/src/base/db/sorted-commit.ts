import { GroupCommit } from "./group-commit.ts";

/**
 * Groups calls into statements that lock rows in the order of their keys. If all statements that lock several of these
 * rows do so, no two of them can deadlock.
 * @param key of the row that a call locks
 */
export function sortedGroupCommit<In, Out>(
  key: (input: In) => string,
  run: (inputs: In[]) => Promise<Out[]>,
): GroupCommit<In, Out> {
  return new GroupCommit<In, Out>(async (inputs) => {
    if (inputs.length === 1) return run(inputs);
    const order = inputs.map((_, i) => i).sort((a, b) => (key(inputs[a]!) < key(inputs[b]!) ? -1 : 1));
    const outputs = await run(order.map((i) => inputs[i]!));
    const back: Out[] = Array.from({ length: inputs.length });
    order.forEach((i, at) => (back[i] = outputs[at]!));
    return back;
  });
}
