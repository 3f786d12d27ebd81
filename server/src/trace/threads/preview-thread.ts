import {
  messageContent,
  inputMessages,
  type Message,
  conversation,
  outputMessages,
  messageRole,
} from "../runs/messages.ts";
import type { Format } from "./schema.ts";

export interface Turn {
  inputs: string | null;
  outputs: string | null;
}

/**
 * Formats the messages of a thread as text: for people and for models that evaluate it, or, as `all_messages`, for
 * programs: each message as JSON, followed by an empty line (the form that `langsmith-fetch` reads).
 */
export function previewThread(turns: readonly Turn[], format: Format): string {
  if (format === "human_ai_pairs") return lines(turns.flatMap(turnMessages));
  const messages = transcript(turns);
  if (format === "all_messages") return messages.map((message) => JSON.stringify(message)).join("\n\n");
  const first = messages.find((message) => messageRole(message) === "human");
  const last = messages.findLast((message) => messageRole(message) === "ai");
  return lines([first, last].filter((message) => message !== undefined));
}

/** Merges the turns. Agents with a memory send all previous messages with each turn; those are included once. */
function transcript(turns: readonly Turn[]): Message[] {
  let shown: Message[] = [];
  for (const { inputs, outputs } of turns) {
    const messages = conversation(inputs, outputs) ?? [];
    const repeats = shown.length > 0 && shown.every((message, i) => isSame(message, messages[i]));
    shown = repeats ? messages : [...shown, ...messages];
  }
  return shown;
}

/** Returns the last message of the user and of the agent in a turn. */
function turnMessages({ inputs, outputs }: Turn): Message[] {
  const human = inputMessages(inputs).findLast((message) => messageRole(message) === "human");
  const ai = outputMessages(outputs).findLast((message) => messageRole(message) === "ai");
  return [human, ai].filter((message) => message !== undefined);
}

/** Compares role and content; ids are ignored, since messages may get them on the way. */
const isSame = (message: Message, other: Message | undefined): boolean =>
  other !== undefined &&
  messageRole(message) === messageRole(other) &&
  messageContent(message) === messageContent(other);

const lines = (messages: readonly Message[]): string =>
  messages.map((message) => `${messageRole(message)}: ${messageContent(message)}`).join("\n\n");
