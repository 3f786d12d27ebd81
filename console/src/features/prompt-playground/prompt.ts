import { newId } from "../../ui/new-id.ts";
import type { TemplateFormat } from "./template.ts";

/** Serialized LangChain object: `{"lc": 1, "type": "constructor", "id": […], "kwargs": {…}}`. */
export type Node = Record<string, unknown>;
export type Part = Record<string, unknown>;

export const ROLES = ["system", "human", "ai", "tool", "placeholder"] as const;
/** `placeholder` inserts the messages of a variable; `kept` is a part that the editor shows and leaves as it is. */
export type Role = (typeof ROLES)[number] | "chat" | "kept";

export interface DraftToolCall {
  id: string;
  name: string;
  /** Arguments as JSON text, which may be invalid while it is edited. */
  args: string;
}

export interface DraftMessage {
  /** Key of the message on the page; not sent. */
  key: string;
  role: Role;
  /** Text, or content blocks in the format that the prompt or the trace has. */
  content: string | Part[];
  /** Whether variables are filled in; literal messages of a manifest are sent as they are. */
  isTemplate: boolean;
  toolCalls: DraftToolCall[];
  /** Id of the call that a tool's message answers. */
  toolCallId: string;
  /** Name of the placeholder's variable, of the tool, or of a `chat` message's role. */
  name: string;
  /** Serialized form that the message was read from; its other members are kept. */
  node?: Node;
}

export interface DraftTool {
  key: string;
  /** JSON text of the tool, in the format of the trace or of OpenAI. */
  text: string;
}

export interface Prompt {
  key: string;
  /** `string` prompts have one message, whose text is the template; `kept` is a manifest without an editor. */
  kind: "chat" | "string" | "kept";
  format: TemplateFormat;
  messages: DraftMessage[];
  tools: DraftTool[];
  /** `auto`, `required`, `none`, or a tool's name; empty for the model's default. */
  toolChoice: string;
  /** JSON Schema of the structured output as text; empty for none. */
  schema: string;
  /** Manifest of the prompt that was opened, without its model. */
  source?: Node;
  /** Manifest of a prompt that was opened with its model. */
  sequence?: Node;
  /** Commit that was opened. */
  origin?: PromptOrigin;
}

export interface PromptOrigin {
  owner: string;
  repo: string;
  commitHash: string;
}

export const newMessage = (role: Role, content: string | Part[] = ""): DraftMessage => ({
  key: newId(),
  role,
  content,
  isTemplate: role !== "tool" && role !== "kept",
  toolCalls: [],
  toolCallId: "",
  name: role === "placeholder" ? "messages" : "",
});

export const newPrompt = (): Prompt => ({
  key: newId(),
  kind: "chat",
  format: "f-string",
  messages: [newMessage("system"), newMessage("human")],
  tools: [],
  toolChoice: "",
  schema: "",
});

/** Returns text; an empty string for anything else. */
export const asText = (value: unknown): string => (typeof value === "string" ? value : "");

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns the parts of a message that hold text, for variables and for searching. */
export const textParts = (content: string | Part[]): string[] =>
  typeof content === "string" ? [content] : content.flatMap((part) => strings(part));

function strings(value: unknown): string[] {
  if (typeof value === "string") return value.startsWith("data:") ? [] : [value];
  if (Array.isArray(value)) return value.flatMap(strings);
  return isObject(value) ? Object.values(value).flatMap(strings) : [];
}
