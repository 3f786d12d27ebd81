import { expect, test } from "vitest";

import { describeActions, describeScope, filterOfSearch } from "./describe-rule.ts";

const NOTHING = {
  add_to_annotation_queue_id: null,
  add_to_annotation_queue_name: null,
  add_to_dataset_id: null,
  add_to_dataset_name: null,
  evaluator_id: null,
  evaluators: null,
  code_evaluators: null,
  add_tags: [],
  add_feedback: [],
  webhooks: null,
  alerts: null,
  extend_only: false,
  use_corrections_dataset: false,
  alignment_annotation_queue_id: null,
};

test("describes what a rule does and which runs it looks at", () => {
  expect(describeActions(NOTHING)).toBe("Does nothing yet");
  const learning = { ...NOTHING, evaluator_id: "e", use_corrections_dataset: true, alignment_annotation_queue_id: "q" };
  expect(describeActions(learning)).toBe(
    "Runs an evaluator, shows its judge people's corrections, adds judged runs to the alignment queue",
  );
  const busy = {
    ...NOTHING,
    evaluator_id: "e",
    add_to_dataset_id: "d",
    add_to_dataset_name: "golden",
    add_tags: ["a"],
  };
  expect(describeActions(busy)).toBe("Runs an evaluator, adds to the dataset golden, tags a");
  const scope = { session_id: "p", session_name: "chat", dataset_id: null, dataset_name: null, group_by: null };
  expect(describeScope({ ...scope, sampling_rate: 1 })).toBe("Runs of chat");
  expect(describeScope({ ...scope, group_by: "thread_id", sampling_rate: 0.05 })).toBe("5% of threads of chat");
});

test("takes a list's tab, filter and text over as a filter", () => {
  expect(filterOfSearch({ tab: "all", filter: "", text: "" })).toBe("");
  expect(filterOfSearch({ tab: "traces", filter: "", text: "" })).toBe("eq(is_root, true)");
  expect(filterOfSearch({ tab: "llm", filter: 'eq(status, "error")', text: 'a "b"' })).toBe(
    'and(eq(run_type, "llm"), eq(status, "error"), search("a \\"b\\""))',
  );
});
