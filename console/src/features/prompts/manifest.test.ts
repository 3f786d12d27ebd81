import { expect, test } from "vitest";

import { readPrompt } from "./manifest.ts";

const lc = (name: string, kwargs: object, ...path: string[]) => ({
  lc: 1,
  type: "constructor",
  id: [...(path.length > 0 ? path : ["langchain_core", "prompts"]), name],
  kwargs,
});
const text = (template: string, format = "f-string") =>
  lc("PromptTemplate", { input_variables: [], template, template_format: format });
const message = (role: string, template: string) => lc(`${role}MessagePromptTemplate`, { prompt: text(template) });
const chat = lc("ChatPromptTemplate", {
  input_variables: ["question", "history"],
  messages: [
    message("System", "You speak {language}."),
    lc("MessagesPlaceholder", { variable_name: "history", optional: true }),
    message("Human", "{question}"),
  ],
  partial_variables: { language: "English" },
});
const model = lc(
  "ChatOpenAI",
  {
    model: "gpt-4o",
    temperature: 0.2,
    openai_api_key: { lc: 1, type: "secret", id: ["OPENAI_API_KEY"] },
  },
  "langchain",
  "chat_models",
  "openai",
);

test("reads a chat prompt: roles, placeholder, variables without partial ones", () => {
  const prompt = readPrompt(chat);
  expect(prompt.kind).toBe("chat");
  expect(prompt.messages.map((one) => (one.kind === "template" ? one.role : one.kind))).toEqual([
    "system",
    "placeholder",
    "human",
  ]);
  expect(prompt.variables).toEqual(["history", "question"]);
  expect(prompt.partials).toEqual({ language: "English" });
});

test("reads a model with its bound tools and without its secrets", () => {
  const bound = lc("RunnableBinding", { bound: model, kwargs: { tools: [{ name: "search" }], tool_choice: "auto" } });
  const prompt = readPrompt(lc("RunnableSequence", { first: chat, middle: [], last: bound }));
  expect(prompt.kind).toBe("chat");
  expect(prompt.model).toEqual({
    name: "ChatOpenAI",
    model: "gpt-4o",
    parameters: { temperature: 0.2 },
    secrets: ["OPENAI_API_KEY"],
    tools: [{ name: "search" }],
    bound: { tool_choice: "auto" },
  });
});

test("reads structured, string and few-shot prompts", () => {
  const schema = { title: "Answer", type: "object" };
  expect(readPrompt(lc("StructuredPrompt", { messages: [message("Human", "{q}")], schema_: schema }))).toMatchObject({
    kind: "structured",
    schema,
    variables: ["q"],
  });
  expect(readPrompt(text("Hi {{name}}", "mustache"))).toMatchObject({ kind: "string", variables: ["name"] });
  const fewShot = readPrompt(
    lc("FewShotPromptTemplate", {
      examples: [{ word: "big", opposite: "small" }],
      example_prompt: text("{word} → {opposite}"),
      prefix: "Opposites",
      suffix: "{input} →",
      input_variables: ["input"],
    }),
  );
  expect(fewShot).toMatchObject({ kind: "few-shot", variables: ["input"] });
  expect(fewShot.messages[0]).toMatchObject({
    fewShot: { examples: [{ word: "big" }], prefix: "Opposites", exampleText: "{word} → {opposite}" },
  });
});

test("reads anything else as unknown", () => {
  for (const value of [null, 1, "text", [], {}, { lc: 1 }, lc("SomethingElse", {})]) {
    expect(readPrompt(value)).toMatchObject({ kind: "unknown", messages: [] });
  }
});
