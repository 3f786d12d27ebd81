import { expect, test } from "vitest";

import type { State } from "../threads/queries.ts";
import { storedAgents } from "./stored-agents.ts";

test("finds the subgraphs of the last run by their namespaces, oldest first", () => {
  const state = (run: string, ...tasks: [name: string, namespace?: string][]) =>
    ({
      metadata: { run_id: run },
      tasks: tasks.map(([name, ns]) => ({ name, checkpoint: ns === undefined ? null : { checkpoint_ns: ns } })),
    }) as unknown as State;
  const states = [
    state("b"),
    state("b", ["join"], ["judge", "judge:3"]),
    state("b", ["baker", "baker:2"], ["plain"]),
    state("a", ["baker", "baker:1"]),
  ];
  expect(storedAgents(states)).toEqual([
    { id: "baker:2", name: "baker" },
    { id: "judge:3", name: "judge" },
  ]);
  expect(storedAgents([])).toEqual([]);
});
