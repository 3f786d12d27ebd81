import { expect, test } from "vitest";

import { bodyOf, type QueueFields, valuesOf } from "./queue-values.ts";

const QUEUE = {
  name: "answers",
  description: null,
  rubric_instructions: null,
  rubric_items: [],
  num_reviewers_per_item: null,
  enable_reservations: false,
  reservation_minutes: 7,
  reviewer_access_mode: "assigned",
  default_dataset: null,
};

test("saving the form of a queue without changes changes nothing, also of one that all assigned reviewers review", () => {
  for (const num_reviewers_per_item of [null, 1, 3]) {
    const queue = { ...QUEUE, num_reviewers_per_item } as unknown as QueueFields;
    expect(bodyOf(valuesOf(queue), queue)).toEqual({ ...QUEUE, num_reviewers_per_item });
  }
});

test("a new queue has one reviewer per run, and all assigned ones if the number is removed", () => {
  const fresh = { ...valuesOf(undefined), name: "new" };
  expect(bodyOf(fresh, undefined)).toMatchObject({ num_reviewers_per_item: 1 });
  expect(bodyOf({ ...fresh, reviewersPerItem: "" }, undefined)).toMatchObject({ num_reviewers_per_item: null });
});
