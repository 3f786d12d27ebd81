/**
 * State of the page: up to eight columns, each with a model and one of the prompts. Columns that try the same prompt
 * on other models share it, so that an edit reaches all of them.
 */
import { newId } from "../../ui/new-id.ts";
import type { Inputs } from "./match-template.ts";
import { type DraftMessage, newPrompt, type Prompt } from "./prompt.ts";
import { mapTexts } from "./read-run.ts";
import { convertTemplate, type TemplateFormat } from "./template.ts";

export const MAX_COLUMNS = 8;

/** Model of a column, as the playground's requests name it. */
export interface ModelChoice {
  /** A connection, or a provider with its default key. */
  connectionId: string | null;
  provider: string | null;
  model: string;
  parameters: Record<string, unknown>;
}

export interface Column {
  key: string;
  promptKey: string;
  model: ModelChoice;
}

/** Call of a trace that was opened, with its answer for comparison. */
export interface OpenedRun {
  runId: string;
  projectId: string;
  name: string;
  answer: string;
}

export interface Draft {
  version: 1;
  prompts: Prompt[];
  columns: Column[];
  /** Prompt in the editor. */
  activeKey: string;
  inputs: Inputs;
  run: OpenedRun | null;
  /** Whether the user has changed anything since it was opened. */
  isEdited: boolean;
}

export const NO_MODEL: ModelChoice = { connectionId: null, provider: null, model: "", parameters: {} };

export function newDraft(prompt: Prompt = newPrompt(), model: ModelChoice = NO_MODEL): Draft {
  return {
    version: 1,
    prompts: [prompt],
    columns: [{ key: newId(), promptKey: prompt.key, model }],
    activeKey: prompt.key,
    inputs: {},
    run: null,
    isEdited: false,
  };
}

export const activePrompt = ({ prompts, activeKey }: Draft): Prompt =>
  prompts.find(({ key }) => key === activeKey) ?? prompts[0]!;

export const columnPrompt = ({ prompts }: Draft, column: Column): Prompt =>
  prompts.find(({ key }) => key === column.promptKey) ?? prompts[0]!;

/** Returns the name of a column or a prompt by its position: A, B … */
export const letter = (index: number): string => String.fromCharCode(65 + index);

export type DraftAction =
  | { type: "open"; draft: Draft }
  | { type: "prompt"; change: Partial<Prompt>; key?: string }
  | { type: "format"; format: TemplateFormat }
  | { type: "message"; key: string; change: Partial<DraftMessage> }
  | { type: "add-message"; message: DraftMessage; after?: string | undefined }
  | { type: "remove-message"; key: string }
  | { type: "move-message"; key: string; by: -1 | 1 }
  | { type: "input"; name: string; value: string }
  | { type: "add-column"; withPrompt: boolean }
  | { type: "remove-column"; key: string }
  | { type: "model"; key: string; model: ModelChoice }
  | { type: "column-prompt"; key: string; promptKey: string }
  | { type: "activate"; promptKey: string };

/** Applies an action; the same draft when nothing changes. */
export function reduceDraft(draft: Draft, action: DraftAction): Draft {
  switch (action.type) {
    case "open":
      return action.draft;
    case "activate":
      return { ...draft, activeKey: action.promptKey };
    case "prompt":
      return changePrompt(draft, action.key ?? draft.activeKey, (prompt) => ({ ...prompt, ...action.change }));
    case "format":
      return changePrompt(draft, draft.activeKey, (prompt) => convertFormat(prompt, action.format));
    case "message":
      return changeMessages(draft, (messages) =>
        messages.map((message) => (message.key === action.key ? { ...message, ...action.change } : message)),
      );
    case "add-message": {
      const { message, after } = action;
      return changeMessages(draft, (messages) => {
        const at = messages.findIndex(({ key }) => key === after);
        return messages.toSpliced(at === -1 ? messages.length : at + 1, 0, message);
      });
    }
    case "remove-message":
      return changeMessages(draft, (messages) => messages.filter(({ key }) => key !== action.key));
    case "move-message":
      return changeMessages(draft, (messages) => moveBy(messages, action.key, action.by));
    case "input":
      return edited({ ...draft, inputs: { ...draft.inputs, [action.name]: action.value } });
    case "add-column":
      return addColumn(draft, action.withPrompt);
    case "remove-column":
      return removeColumn(draft, action.key);
    case "model":
      return changeColumn(draft, action.key, { model: action.model });
    case "column-prompt":
      return withoutUnused({
        ...changeColumn(draft, action.key, { promptKey: action.promptKey }),
        activeKey: action.promptKey,
      });
  }
}

const edited = (draft: Draft): Draft => ({ ...draft, isEdited: true });

function changePrompt(draft: Draft, key: string, change: (prompt: Prompt) => Prompt): Draft {
  return edited({ ...draft, prompts: draft.prompts.map((prompt) => (prompt.key === key ? change(prompt) : prompt)) });
}

function changeMessages(draft: Draft, change: (messages: DraftMessage[]) => DraftMessage[]): Draft {
  return changePrompt(draft, draft.activeKey, (prompt) => ({ ...prompt, messages: change(prompt.messages) }));
}

function changeColumn(draft: Draft, key: string, change: Partial<Column>): Draft {
  const columns = draft.columns.map((column) => (column.key === key ? { ...column, ...change } : column));
  return edited({ ...draft, columns });
}

/** Moves an entry by one place; at the end of the list it stays. */
function moveBy(messages: DraftMessage[], key: string, by: -1 | 1): DraftMessage[] {
  const at = messages.findIndex((message) => message.key === key);
  const to = at + by;
  if (at === -1 || to < 0 || to >= messages.length) return messages;
  return messages.with(at, messages[to]!).with(to, messages[at]!);
}

function convertFormat(prompt: Prompt, format: TemplateFormat): Prompt {
  const { format: from } = prompt;
  const convert = (text: string) => convertTemplate(text, from, format);
  const messages = prompt.messages.map((message) =>
    message.isTemplate && message.role !== "placeholder"
      ? { ...message, content: mapTexts(message.content, convert) }
      : message,
  );
  return { ...prompt, format, messages };
}

/** Adds a column with the last column's model, and its prompt or a copy of it. */
function addColumn(draft: Draft, withPrompt: boolean): Draft {
  if (draft.columns.length >= MAX_COLUMNS) return draft;
  const last = draft.columns.at(-1)!;
  if (!withPrompt) return edited({ ...draft, columns: [...draft.columns, { ...last, key: newId() }] });
  const copy = { ...activePrompt(draft), key: newId() };
  return edited({
    ...draft,
    prompts: [...draft.prompts, copy],
    columns: [...draft.columns, { ...last, key: newId(), promptKey: copy.key }],
    activeKey: copy.key,
  });
}

function removeColumn(draft: Draft, key: string): Draft {
  if (draft.columns.length === 1) return draft;
  return withoutUnused(edited({ ...draft, columns: draft.columns.filter((column) => column.key !== key) }));
}

/** Removes prompts that no column uses. */
function withoutUnused(draft: Draft): Draft {
  const used = new Set(draft.columns.map(({ promptKey }) => promptKey));
  const prompts = draft.prompts.filter(({ key }) => used.has(key));
  const activeKey = used.has(draft.activeKey) ? draft.activeKey : prompts[0]!.key;
  return { ...draft, prompts, activeKey };
}
