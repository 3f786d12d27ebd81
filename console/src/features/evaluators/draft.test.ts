import { expect, test } from "vitest";

import { fromDefinition, newDraft, newScore, toBody, variablesOf } from "./draft.ts";

const model = { connectionId: "c1", provider: null, model: "m", parameters: { temperature: 0 } };

test("sends messages, mapping, model and scores", () => {
  const draft = {
    ...newDraft(),
    model,
    scores: [
      { ...newScore(), key: "tone ", type: "category" as const, choices: "kind = 1\nrude=0\n\nunclear" },
      { ...newScore(), key: "quality", type: "number" as const, min: 1, max: "" },
    ],
  };
  expect(variablesOf(draft)).toEqual(["question", "answer"]);
  expect(toBody(draft)).toMatchObject({
    type: "llm",
    subject: "run",
    llm_evaluator: {
      variable_mapping: { question: "question", answer: "answer" },
      model: { connection_id: "c1", model: "m", parameters: { temperature: 0 } },
      scores: [
        { key: "tone", choices: [{ label: "kind", score: 1 }, { label: "rude", score: 0 }, { label: "unclear" }] },
        { key: "quality", min: 1, max: null },
      ],
      use_corrections_dataset: false,
    },
  });
});

test("a definition that is opened and sent is the same", () => {
  const prompt = { messages: [{ role: "user" as const, content: "{x}" }], template_format: "f-string" as const };
  const scores = [
    { key: "k", type: "category" as const, description: "d", choices: [{ label: "a", score: 1 }, { label: "b" }] },
  ];
  const opened = fromDefinition("n", null, {
    type: "llm",
    subject: "thread",
    prompt,
    model: { connection_id: "c1", model: "m", parameters: {} },
    variable_mapping: { x: "thread" },
    scores,
    reasoning: false,
    few_shot: { dataset_id: null, count: 3 },
  });
  expect(toBody(opened)).toEqual({
    type: "llm",
    subject: "thread",
    llm_evaluator: {
      prompt: prompt.messages,
      template_format: "f-string",
      variable_mapping: { x: "thread" },
      model: { connection_id: "c1", model: "m", parameters: {} },
      scores,
      reasoning: false,
      num_few_shot_examples: 3,
      use_corrections_dataset: true,
    },
  });
});
