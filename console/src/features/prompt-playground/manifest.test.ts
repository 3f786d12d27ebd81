import { expect, test } from "vitest";

import { missingInputs, readInputs } from "./build-request.ts";
import { joinModel, readModel, writeModel } from "./model-node.ts";
import { newMessage, type Node } from "./prompt.ts";
import { readManifest } from "./read-manifest.ts";
import { promptVariables, writeManifest } from "./write-manifest.ts";

const construct = (id: string, kwargs: object): Node => ({ lc: 1, type: "constructor", id: id.split("."), kwargs });
const template = (text: string, variables: string[] = [], format = "f-string") =>
  construct("langchain.prompts.prompt.PromptTemplate", {
    input_variables: variables,
    template_format: format,
    template: text,
    validate_template: false,
  });
const message = (role: string, prompt: unknown) =>
  construct(`langchain.prompts.chat.${role}MessagePromptTemplate`, { prompt, additional_kwargs: {} });
const chat = (messages: unknown[], variables: string[], more = {}) =>
  construct("langchain.prompts.chat.ChatPromptTemplate", { input_variables: variables, messages, ...more });

const FEW_SHOT = construct("langchain.prompts.few_shot.FewShotChatMessagePromptTemplate", {
  examples: [{ q: "1", a: "2" }],
  input_variables: ["topic"],
});
const CHAT = chat(
  [
    message("System", template("You are {tone}.", ["tone"])),
    construct("langchain.prompts.chat.MessagesPlaceholder", { variable_name: "history", optional: true }),
    FEW_SHOT,
    construct("langchain.schema.messages.AIMessage", {
      content: "",
      tool_calls: [{ id: "c1", name: "find", args: { q: "{x}" }, type: "tool_call" }],
    }),
    construct("langchain.schema.messages.ToolMessage", { content: "found {y}", tool_call_id: "c1" }),
    message("Human", [
      template("Look: {question}", ["question"]),
      construct("langchain_core.prompts.image.ImagePromptTemplate", {
        template: { url: "{picture}", detail: "low" },
        input_variables: ["picture"],
        template_format: "f-string",
      }),
    ]),
  ],
  ["picture", "question", "tone", "topic"],
  { metadata: { lc_hub_repo: "x" } },
);

test("an unchanged prompt is written as it was read: chat, string, structured, few-shot, with a model", () => {
  const structured = construct("langchain_core.prompts.structured.StructuredPrompt", {
    ...(CHAT["kwargs"] as object),
    schema_: { title: "Answer", type: "object", properties: { text: { type: "string" } } },
    structured_output_kwargs: { method: "json_schema" },
  });
  const fewShot = construct("langchain.prompts.few_shot.FewShotPromptTemplate", { examples: [], suffix: "{q}" });
  for (const manifest of [CHAT, structured, template("Hi {name}", ["name"]), fewShot]) {
    expect(writeManifest(readManifest(manifest).prompt)).toBe(manifest);
  }
});

test("lists variables in order, and those of kept parts, but not of literal messages", () => {
  expect(promptVariables(readManifest(CHAT).prompt)).toEqual([
    { name: "tone", kind: "text" },
    { name: "history", kind: "messages" },
    { name: "topic", kind: "text" },
    { name: "question", kind: "text" },
    { name: "picture", kind: "text" },
  ]);
});

test("an edit changes its message only, and the list of variables", () => {
  const { prompt } = readManifest(CHAT);
  const [first, ...rest] = prompt.messages;
  const written = writeManifest({ ...prompt, messages: [{ ...first!, content: "Be {mood}." }, ...rest] });
  const { messages, input_variables, metadata } = written["kwargs"] as Record<string, Node[]>;
  expect(messages!.slice(1)).toEqual((CHAT["kwargs"] as { messages: Node[] }).messages.slice(1));
  expect(messages![0]).toMatchObject({
    kwargs: { additional_kwargs: {}, prompt: { kwargs: { template: "Be {mood}.", input_variables: ["mood"] } } },
  });
  expect(input_variables).toEqual(["mood", "topic", "question", "picture"]);
  expect(metadata).toEqual({ lc_hub_repo: "x" });
});

test("what it writes, it reads back: tool calls, results, images and files", () => {
  const { prompt } = readManifest(chat([], []));
  const messages = [
    { ...newMessage("system"), content: "Be brief." },
    { ...newMessage("placeholder"), name: "history" },
    { ...newMessage("ai"), toolCalls: [{ id: "c1", name: "find", args: '{"q":1}' }] },
    { ...newMessage("tool", "2 pairs"), toolCallId: "c1", name: "find" },
    newMessage("human", [
      { type: "text", text: "See {what}" },
      { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
      { type: "file", source_type: "base64", mime_type: "application/pdf", data: "AA==", filename: "a.pdf" },
    ]),
  ];
  const written = writeManifest({ ...prompt, messages, source: undefined as never });
  const back = readManifest(JSON.parse(JSON.stringify(written))).prompt;
  const shown = (list: typeof messages) =>
    list.map(({ role, content, toolCallId, name, toolCalls }) => ({
      role,
      content,
      toolCallId,
      name,
      toolCalls: toolCalls.map(({ args, ...call }) => ({ ...call, args: JSON.parse(args) as unknown })),
    }));
  expect(shown(back.messages as typeof messages)).toEqual(shown(messages));
  expect(promptVariables(back).map(({ name }) => name)).toEqual(["history", "what"]);
  expect((written["kwargs"] as { messages: Node[] }).messages[2]).toMatchObject({
    id: ["langchain_core", "messages", "AIMessage"],
  });
});

test("a schema makes a structured prompt, and its removal a chat prompt", () => {
  const { prompt } = readManifest(CHAT);
  const structured = writeManifest({ ...prompt, schema: '{"title":"A","type":"object"}' });
  expect((structured["id"] as string[]).at(-1)).toBe("StructuredPrompt");
  const again = readManifest(structured).prompt;
  expect(JSON.parse(again.schema)).toEqual({ title: "A", type: "object" });
  expect((writeManifest({ ...again, schema: "" })["id"] as string[]).at(-1)).toBe("ChatPromptTemplate");
  expect(() => writeManifest({ ...prompt, schema: "{" })).toThrow("The output schema is not valid JSON");
});

test("messages in a third format, and unknown ones, are kept", () => {
  const jinja = message("Human", template("{{ x }}", ["x"], "jinja2"));
  const unknown = construct("somewhere.Else", { a: 1 });
  const manifest = chat([jinja, unknown, message("Human", template("Hi {{x}}", ["x"], "mustache"))], ["x"]);
  const { prompt } = readManifest(manifest);
  expect(prompt.format).toBe("mustache");
  expect(prompt.messages.map(({ role }) => role)).toEqual(["human", "kept", "human"]);
  expect(writeManifest(prompt)).toBe(manifest);
});

const MODEL = construct("langchain.chat_models.openai.ChatOpenAI", {
  model_name: "gpt-x",
  temperature: 0.2,
  openai_api_key: { lc: 1, type: "secret", id: ["OPENAI_API_KEY"] },
});
const TOOL = { type: "function", function: { name: "find", parameters: {} } };
const SEQUENCE = construct("langchain.schema.runnable.RunnableSequence", {
  first: CHAT,
  middle: [
    construct("langchain.schema.runnable.RunnableBinding", {
      bound: MODEL,
      kwargs: { tools: [TOOL], tool_choice: "any", x: 1 },
    }),
  ],
  last: construct("langchain.schema.output_parser.StrOutputParser", {}),
});

test("a prompt with a model keeps its other steps, options and secrets", () => {
  const { prompt, model } = readManifest(SEQUENCE);
  const choice = readModel(model);
  expect(choice).toMatchObject({ provider: "openai", model: "gpt-x", parameters: { temperature: 0.2 } });
  expect(prompt).toMatchObject({ toolChoice: "required", tools: [{}] });
  const written = joinModel(writeManifest(prompt), writeModel(choice, "openai", model), prompt);
  expect(JSON.stringify(written)).toBe(JSON.stringify(SEQUENCE));
  const other = writeModel({ ...choice, model: "claude-x" }, "anthropic", model);
  expect(other).toMatchObject({
    id: ["langchain", "chat_models", "anthropic", "ChatAnthropic"],
    kwargs: { model: "claude-x", anthropic_api_key: { type: "secret", id: ["ANTHROPIC_API_KEY"] } },
  });
});

test("values that a message's template has are no inputs, and stay when its text is edited", () => {
  const partial = { ...template("{greeting} {name}", ["name"]) };
  partial["kwargs"] = { ...(partial["kwargs"] as object), partial_variables: { greeting: "Hello" } };
  const { prompt } = readManifest(chat([message("Human", partial)], ["name"]));
  expect(missingInputs(prompt, {})).toEqual(["name"]);
  expect(readInputs(prompt, { name: "Ada" })).toEqual({ name: "Ada" });
  const [human] = prompt.messages;
  const edited = writeManifest({ ...prompt, messages: [{ ...human!, content: "{greeting}, {name}!" }] });
  expect(edited).toMatchObject({
    kwargs: {
      input_variables: ["name"],
      messages: [
        { kwargs: { prompt: { kwargs: { partial_variables: { greeting: "Hello" }, input_variables: ["name"] } } } },
      ],
    },
  });
});
