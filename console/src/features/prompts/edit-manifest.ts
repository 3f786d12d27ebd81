/** Edits a prompt's manifest: drafts of its messages, and the manifest with the drafts written back. */
import {
  className,
  type Constructor,
  isConstructor,
  type PromptMessage,
  readPrompt,
  splitSequence,
} from "./manifest.ts";
import { listVariables, readFormat, type TemplateFormat } from "./template.ts";

type Fields = Record<string, unknown>;

export const DRAFT_ROLES = ["system", "human", "ai", "placeholder"] as const;
export type DraftRole = (typeof DRAFT_ROLES)[number];

export interface MessageDraft {
  key: string;
  /** Null for messages that the form only moves or removes: examples, other roles and unknown classes. */
  role: DraftRole | null;
  /** Text of the template, or name of the placeholder's variable. */
  text: string;
  /** Message before the edit; undefined for a new one. */
  source?: unknown;
}

export interface PromptDraft {
  kind: "chat" | "string";
  format: TemplateFormat;
  messages: MessageDraft[];
}

let drafts = 0;
export const newDraft = (role: DraftRole, text = ""): MessageDraft => ({ key: `draft-${++drafts}`, role, text });

/** @returns null for a manifest that the form cannot edit */
export function draftPrompt(manifest: unknown): PromptDraft | null {
  const prompt = readPrompt(manifest);
  if (prompt.kind === "unknown" || (prompt.kind === "few-shot" && prompt.messages.length === 1)) return null;
  const formats = prompt.messages.flatMap((message) =>
    message.kind === "template" ? message.parts.flatMap((part) => (part.kind === "text" ? part.format : [])) : [],
  );
  return {
    kind: prompt.kind === "string" ? "string" : "chat",
    format: formats[0] ?? "f-string",
    messages: prompt.messages.map(draftMessage),
  };
}

function draftMessage(message: PromptMessage): MessageDraft {
  const { source } = message;
  const whole: MessageDraft = { ...newDraft("human"), role: null, source };
  if (message.kind === "placeholder") return { ...whole, role: "placeholder", text: message.variable };
  if (message.kind !== "template") return whole;
  const [part] = message.parts;
  if (message.parts.length !== 1 || part?.kind !== "text") return whole;
  if (message.role === "system" || message.role === "human" || message.role === "ai") {
    return { ...whole, role: message.role, text: part.text };
  }
  return className(source) === "PromptTemplate" ? { ...whole, role: "human", text: part.text } : whole;
}

const CLASSES: Record<Exclude<DraftRole, "placeholder">, string> = {
  system: "SystemMessagePromptTemplate",
  human: "HumanMessagePromptTemplate",
  ai: "AIMessagePromptTemplate",
};

const make = (name: string, kwargs: Fields): Constructor => ({
  lc: 1,
  type: "constructor",
  id: ["langchain_core", "prompts", name === "PromptTemplate" ? "prompt" : "chat", name],
  kwargs,
});

const makeTemplate = (template: string, format: TemplateFormat, before?: unknown): Constructor => {
  const input_variables = listVariables(template, format);
  if (!isConstructor(before)) return make("PromptTemplate", { input_variables, template_format: format, template });
  const partials = before.kwargs["partial_variables"] as Fields | undefined;
  const open = input_variables.filter((name) => !Object.hasOwn(partials ?? {}, name));
  return { ...before, kwargs: { ...before.kwargs, input_variables: open, template } };
};

/** Manifest of a new prompt. */
export function newManifest(kind: PromptDraft["kind"], format: TemplateFormat): unknown {
  const [open, close] = format === "f-string" ? ["{", "}"] : ["{{", "}}"];
  const question = `${open}question${close}`;
  if (kind === "string") return makeTemplate(`Answer the question: ${question}`, format);
  const messages = [
    writeMessage(newDraft("system", "You are a helpful assistant."), format),
    writeMessage(newDraft("human", question), format),
  ];
  return make("ChatPromptTemplate", { input_variables: ["question"], messages });
}

/** Returns the manifest with the messages of the draft; all else is kept, also a model. */
export function writePrompt(manifest: unknown, draft: PromptDraft): unknown {
  const { prompt } = splitSequence(manifest);
  const written = writeTemplate(prompt as Constructor, draft);
  if (prompt === manifest) return written;
  const sequence = manifest as Constructor;
  return { ...sequence, kwargs: { ...sequence.kwargs, first: written } };
}

function writeTemplate(prompt: Constructor, draft: PromptDraft): Constructor {
  if (draft.kind === "string") return makeTemplate(draft.messages[0]!.text, draft.format, prompt);
  const messages = draft.messages.map((message) => writeMessage(message, draft.format));
  const field = Object.hasOwn(prompt.kwargs, "prompt_messages") ? "prompt_messages" : "messages";
  const { input_variables: _, ...kwargs } = prompt.kwargs;
  const next = { ...prompt, kwargs: { ...kwargs, [field]: messages } };
  const variables = readPrompt(next).variables.filter((name) => !optionalPlaceholders(draft).has(name));
  return { ...prompt, kwargs: { ...prompt.kwargs, input_variables: variables, [field]: messages } };
}

/** Optional placeholders are not input variables. */
const optionalPlaceholders = ({ messages }: PromptDraft): Set<string> =>
  new Set(
    messages.flatMap(({ role, text, source }) =>
      role === "placeholder" && isConstructor(source) && source.kwargs["optional"] === true ? text : [],
    ),
  );

function writeMessage({ role, text, source }: MessageDraft, format: TemplateFormat): unknown {
  if (role === null) return source;
  const before = isConstructor(source) ? source : null;
  if (role === "placeholder") {
    if (className(source) !== "MessagesPlaceholder") return make("MessagesPlaceholder", { variable_name: text });
    return { ...before!, kwargs: { ...before!.kwargs, variable_name: text } };
  }
  const inner = before?.kwargs["prompt"];
  const [single] = Array.isArray(inner) ? (inner as unknown[]) : [inner];
  const ownFormat = isConstructor(single) ? readFormat(single.kwargs["template_format"]) : format;
  const template = makeTemplate(text, ownFormat, single);
  const prompt = Array.isArray(inner) ? [template] : template;
  if (before && className(before) === CLASSES[role]) return { ...before, kwargs: { ...before.kwargs, prompt } };
  return make(CLASSES[role], { prompt });
}

/** Variables of the draft, each once, in order. */
export const draftVariables = (manifest: unknown, draft: PromptDraft): string[] =>
  readPrompt(writePrompt(manifest, draft)).variables;
