import { expect, test } from "vitest";

import { promptVariables, renderPrompt } from "./prompt.ts";
import { readManifest } from "./read-manifest.ts";
import { readMessage } from "./read-messages.ts";
import { renderTemplate, type TemplateFormat, templateVariables } from "./render-template.ts";

const render = (template: string, format: TemplateFormat, variables: object) =>
  renderTemplate(template, format, variables as Record<string, unknown>, "here");

test.each([
  ["f-string", "Hi {name}, {{literal}} {n}", { name: "Ada", n: 3 }, "Hi Ada, {literal} 3"],
  ["f-string", "{a.b}", { "a.b": "x" }, "x"],
  ["f-string", "{list}", { list: [1, 2] }, "[1,2]"],
  ["f-string", "{name}", { name: "{other}" }, "{other}"],
  ["mustache", "Hi {{name}} & {{{name}}}{{! nothing }}", { name: "<Ada>" }, "Hi <Ada> & <Ada>"],
  [
    "mustache",
    "{{#items}}{{name}},{{/items}}{{^items}}none{{/items}}",
    { items: [{ name: "a" }, { name: "b" }] },
    "a,b,",
  ],
  ["mustache", "{{#items}}x{{/items}}{{^items}}none{{/items}}", { items: [] }, "none"],
  ["mustache", "{{#words}}{{.}} {{/words}}{{user.name}}", { words: ["a", "b"], user: { name: "Ada" } }, "a b Ada"],
  ["mustache", "List:\n{{#items}}\n- {{.}}\n{{/items}}\nEnd", { items: ["a", "b"] }, "List:\n- a\n- b\nEnd"],
  ["mustache", "{{#user}}{{name}}{{/user}}", { user: { name: "{{name}}" } }, "{{name}}"],
  // as LangChain in both languages: 0 is no section, and a section may end with the template
  ["mustache", "{{#n}}{{n}} found{{/n}}{{^n}}none{{/n}}", { n: 0 }, "none"],
  ["mustache", "List:\n  {{#items}}\n  - {{.}}\n  {{/items}}", { items: ["a", "b"] }, "List:\n  - a\n  - b\n"],
  ["none", "{a} {{b}}", {}, "{a} {{b}}"],
] as const)("renders %s templates: %s", (format, template, variables, expected) => {
  expect(render(template, format, variables)).toBe(expected);
});

test.each([
  ["f-string", "{name", /no variable follows/],
  ["f-string", "a } b", /single }/],
  ["f-string", "{}", /no variable follows/],
  ["f-string", "{:>10}", /no variable follows/],
  ["f-string", "Hi {name!r}", /"name" at character 3 has the format "!r".*does not apply; write \{name\}/],
  ["f-string", "{a:.2f}", /"a" at character 0 has the format ":.2f"/],
  ["f-string", "{toString}", /"toString" has no value/],
  ["f-string", "{__proto__}", /"__proto__" has no value/],
  ["mustache", "{{constructor.name}}", /names no variable/],
  ["mustache", "{{a.__proto__.b}}", /names no variable/],
  ["mustache", "{{toString}}", /has no value/],
  ["mustache", "{{a.length}}", /has no value/],
  ["mustache", "{{>partial}}", /not supported/],
  ["mustache", "{{=<% %>=}}", /not supported/],
  ["mustache", "{{#a}}x", /not closed/],
  ["mustache", "{{/a}}", /closes no section/],
] as const)("rejects %s templates: %s", (format, template, message) => {
  expect(() => render(template, format, { name: "Ada", a: "text" })).toThrow(message);
});

test("bounds what sections repeat", () => {
  const many = Array.from({ length: 1000 }, () => "x");
  expect(() => render("{{#a}}{{#a}}{{#a}}{{.}}{{/a}}{{/a}}{{/a}}", "mustache", { a: many })).toThrow(/too large/);
});

test("lists the variables of templates", () => {
  expect(templateVariables("{a} {b} {a}", "f-string", "here")).toEqual(["a", "b"]);
  expect(templateVariables("{{a.x}} {{#b}}{{c}}{{/b}}", "mustache", "here")).toEqual(["a", "b"]);
});

const make = (name: string, kwargs: object, path = ["langchain_core", "prompts"]) => ({
  lc: 1,
  type: "constructor",
  id: [...path, name],
  kwargs,
});
const template = (text: string, format = "f-string") =>
  make("PromptTemplate", { template: text, template_format: format, input_variables: [] });
const chat = (...messages: object[]) => make("ChatPromptTemplate", { messages, input_variables: [] });

test("reads chat prompts with placeholders, fixed messages and examples", () => {
  const { prompt } = readManifest(
    chat(
      make("SystemMessagePromptTemplate", { prompt: template("You are {who}.") }),
      make("FewShotChatMessagePromptTemplate", {
        examples: [{ in: "2+2", out: "{4}" }],
        example_prompt: chat(
          make("HumanMessagePromptTemplate", { prompt: template("{in}?") }),
          make("AIMessagePromptTemplate", { prompt: template("{out}") }),
        ),
      }),
      make("MessagesPlaceholder", { variable_name: "history", optional: true }),
      make("HumanMessage", { content: "{as it is}" }),
      make("ChatMessagePromptTemplate", { role: "user", prompt: template("{{question}}", "mustache") }),
    ),
    "manifest",
  );
  expect(promptVariables(prompt)).toEqual(["who", "history", "question"]);
  expect(renderPrompt(prompt, { who: "Ada", question: "3+3", history: [["human", "hi"]] })).toEqual([
    { role: "system", content: "You are Ada." },
    { role: "user", content: "2+2?" },
    { role: "assistant", content: "{4}" },
    { role: "user", content: "hi" },
    { role: "user", content: "{as it is}" },
    { role: "user", content: "3+3" },
  ]);
  expect(() => renderPrompt(prompt, {})).toThrow("variables: missing who, question");
});

test("reads values that a message's template has, and how many messages of a list are wanted", () => {
  const partial = make("PromptTemplate", {
    template: "{greeting} {name}",
    template_format: "f-string",
    input_variables: ["name"],
    partial_variables: { greeting: "Hello" },
  });
  const { prompt } = readManifest(
    chat(
      make("MessagesPlaceholder", { variable_name: "history", n_messages: 1 }),
      make("HumanMessagePromptTemplate", { prompt: partial }),
      make("HumanMessagePromptTemplate", { prompt: [partial] }),
    ),
    "manifest",
  );
  expect(promptVariables(prompt)).toEqual(["history", "name"]);
  const history = [
    ["human", "first"],
    ["ai", "last"],
  ];
  expect(renderPrompt(prompt, { name: "Ada", history }).map(({ content }) => content)).toEqual([
    "last",
    "Hello Ada",
    [{ type: "text", text: "Hello Ada" }],
  ]);
  expect(renderPrompt(prompt, { name: "Ada", greeting: "Hi", history: [] })[0]!.content).toBe("Hi Ada");
});

test("reads text, few-shot and structured prompts", () => {
  const text = readManifest(template("Say {what}"), "manifest").prompt;
  expect(renderPrompt(text, { what: "hi" })).toEqual([{ role: "user", content: "Say hi" }]);
  const shots = make("FewShotPromptTemplate", {
    prefix: "Sums of {who}:",
    examples: [{ a: "1" }, { a: "2" }],
    example_prompt: template("a={a}"),
    suffix: "a={x}",
    example_separator: "\n",
  });
  expect(renderPrompt(readManifest(shots, "manifest").prompt, { who: "Ada", x: "3" })).toEqual([
    { role: "user", content: "Sums of Ada:\na=1\na=2\na=3" },
  ]);
  const schema = { title: "t", type: "object", properties: {} };
  const structured = make("StructuredPrompt", { messages: [make("HumanMessage", { content: "x" })], schema_: schema });
  expect(readManifest(structured, "manifest").responseSchema).toEqual(schema);
});

test("reads images of prompts", () => {
  const { prompt } = readManifest(
    chat(
      make("HumanMessagePromptTemplate", {
        prompt: [
          template("What is {this}?"),
          make("ImagePromptTemplate", { template: { url: "{image}", detail: "low" } }),
        ],
      }),
    ),
    "manifest",
  );
  expect(promptVariables(prompt)).toEqual(["this", "image"]);
  const image = "data:image/png;base64,aGVsbG8=";
  expect(renderPrompt(prompt, { this: "it", image })[0]!.content).toEqual([
    { type: "text", text: "What is it?" },
    { type: "image", data: "aGVsbG8=", mime_type: "image/png", detail: "low" },
  ]);
  expect(() => renderPrompt(prompt, { this: "it", image: "file:///etc/passwd" })).toThrow(/no text, image/);
});

test("reads the model that is bound to a prompt, without its URL", () => {
  const openai = make(
    "ChatOpenAI",
    {
      model: "gpt-4o",
      temperature: 0.3,
      max_tokens: 100,
      openai_api_key: { lc: 1, type: "secret", id: ["OPENAI_API_KEY"] },
      openai_api_base: "https://attacker.example/v1",
      streaming: true,
      logit_bias: { 1: 2 },
    },
    ["langchain", "chat_models", "openai"],
  );
  const tools = [{ type: "function", function: { name: "f", description: "", parameters: { type: "object" } } }];
  const bound = make("RunnableBinding", { bound: openai, kwargs: { tools, tool_choice: "required" }, config: {} });
  const sequence = make("RunnableSequence", { first: template("hi"), middle: [], last: bound });
  const read = readManifest(sequence, "manifest");
  expect(read).toMatchObject({
    tools: [{ name: "f" }],
    toolChoice: "any",
    model: { provider: "openai", model: "gpt-4o", parameters: { temperature: 0.3, max_tokens: 100 } },
  });
  expect(read.notes.join()).toMatch(/URL was left out.*/);
  expect(read.notes.join()).toMatch(/logit_bias was left out/);
});

test.each([
  [{ lc: 1, type: "constructor", id: ["x", "Evil"], kwargs: {} }, /class Evil are not supported/],
  [{ lc: 1, type: "not_implemented", id: ["x"] }, /no serialized prompt/],
  [template("{{ x }}", "jinja2"), /jinja2 templates are not rendered/],
  [chat(make("SystemMessagePromptTemplate", { prompt: template("x", "jinja2") })), /jinja2/],
  [make("RunnableSequence", { first: template("x"), middle: [], last: make("RunnableLambda", {}) }), /RunnableLambda/],
])("rejects manifests that it cannot run", (manifest, message) => {
  expect(() => readManifest(manifest, "manifest")).toThrow(message);
});

test("rejects prompts that are nested without end", () => {
  let nested: object = chat();
  for (let i = 0; i < 30; i++) nested = chat(nested);
  expect(() => readManifest(nested, "manifest")).toThrow(/nested deeper/);
});

test("keeps the detail of traced images, as chat completions, responses and LangChain write it", () => {
  const url = "https://example.com/a.png";
  const image = (block: object) => readMessage({ role: "user", content: [block] }, new Set())[0]!.content;
  const kept = [{ type: "image", url, detail: "low" }];
  expect(image({ type: "image_url", image_url: { url, detail: "low" } })).toEqual(kept);
  expect(image({ type: "input_image", image_url: url, detail: "low" })).toEqual(kept);
  expect(image({ type: "image", source_type: "url", url, metadata: { detail: "low" } })).toEqual(kept);
  expect(image({ type: "image_url", image_url: { url } })).toEqual([{ type: "image", url }]);
});
