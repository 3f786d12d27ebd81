import { expect, test } from "vitest";

import { missingFields, nextField, PAIR, rubricFields, THUMBS, visibleFields } from "./rubric.ts";

const config = (feedback_key: string, feedback_config: object) => ({ feedback_key, feedback_config }) as never;
const digits = (field: { choices: { digit: string; label: string }[] }) =>
  field.choices.map(({ digit, label }) => `${digit} ${label}`);

test("a queue without a rubric is reviewed by thumbs", () => {
  expect(rubricFields(null, [])).toMatchObject([{ key: "user_score", kind: "thumbs", choices: THUMBS }]);
});

test("the configuration of a key decides which digits answer it", () => {
  const [tone, stars, good, note] = rubricFields(
    [
      { feedback_key: "tone", value_descriptions: { rude: "insults" }, is_required: true },
      { feedback_key: "stars", score_descriptions: { 3: "fine" } },
      { feedback_key: "good" },
      { feedback_key: "note" },
    ],
    [
      config("tone", { type: "categorical", categories: [{ value: 0, label: "rude" }, { value: 1 }] }),
      config("stars", { type: "continuous", min: 1, max: 3 }),
      config("good", { type: "continuous", min: 0, max: 1 }),
      config("note", { type: "freeform" }),
    ],
  );
  expect(tone).toMatchObject({ kind: "category", isRequired: true });
  expect(digits(tone!)).toEqual(["1 rude: insults", "2 1"]);
  expect(tone!.choices[0]!.answer).toEqual({ score: 0, value: "rude" });
  expect(digits(stars!)).toEqual(["1 1", "2 2", "3 3: fine"]);
  expect(good!.kind).toBe("thumbs");
  expect(note).toMatchObject({ kind: "text", choices: [] });
});

test("the next field is the first unanswered one, around the end", () => {
  const fields = rubricFields(
    [{ feedback_key: "a", is_required: true }, { feedback_key: "b" }, { feedback_key: "c" }],
    [],
  );
  const answer = THUMBS[0]!.answer;
  expect(nextField(fields, { a: answer }, 0)).toBe(1);
  expect(nextField(fields, { b: answer, c: answer }, 2)).toBe(0);
  expect(nextField(fields, { a: answer, b: answer, c: answer }, 1)).toBe(1);
  expect(missingFields(fields, { b: answer })).toEqual(["a"]);
});

test("conditions on other answers hide fields and require them", () => {
  const rule = (key: string, op: "is" | "is_not_empty", ...values: number[]) => ({
    join: "all" as const,
    rules: [{ key, op, ...(values.length > 0 && { values }) }],
  });
  const fields = rubricFields(
    [
      { feedback_key: "good" },
      { feedback_key: "why", visible_if: rule("good", "is", 0) },
      { feedback_key: "how", visible_if: rule("why", "is_not_empty"), required_if: rule("good", "is", 0) },
    ],
    [],
  );
  const keys = (answers: object) => visibleFields(fields, answers as never).map(({ key }) => key);
  const [good, bad] = THUMBS.map((choice) => choice.answer);
  expect(keys({})).toEqual(["good"]);
  expect(keys({ good: bad })).toEqual(["good", "why"]);
  expect(keys({ good: bad, why: good })).toEqual(["good", "why", "how"]);
  // an answer of a hidden field does not count
  expect(keys({ good, why: good })).toEqual(["good"]);
  const answers = { good: bad!, why: good! };
  expect(missingFields(visibleFields(fields, answers), answers)).toEqual(["how"]);
});

test("a pairwise queue is reviewed by the choice between two runs", () => {
  expect(rubricFields(null, [], true)).toMatchObject([{ key: "better", kind: "pair", choices: PAIR }]);
  expect(rubricFields([{ feedback_key: "tone" }], [], true)).toMatchObject([{ key: "tone", kind: "pair" }]);
});
