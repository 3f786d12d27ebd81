import { contentOf, inputMessages, type Message, messagesOf, outputMessages, roleOf } from "../runs/messages.ts";
import type { Format } from "./schema.ts";

export interface Turn {
  inputs: string | null;
  outputs: string | null;
}

/** Formats the messages of a thread as text, for people and for models that evaluate it. */
export function previewThread(turns: readonly Turn[], format: Format): string {
  if (format === "human_ai_pairs") return lines(turns.flatMap(pairOf));
  const messages = transcript(turns);
  if (format === "all_messages") return lines(messages);
  const first = messages.find((message) => roleOf(message) === "human");
  const last = messages.findLast((message) => roleOf(message) === "ai");
  return lines([first, last].filter((message) => message !== undefined));
}

/** Merges the turns. Agents with a memory send all previous messages with each turn; those are included once. */
function transcript(turns: readonly Turn[]): Message[] {
  let told: Message[] = [];
  for (const { inputs, outputs } of turns) {
    const messages = messagesOf(inputs, outputs) ?? [];
    const repeats = told.length > 0 && told.every((one, i) => isSame(one, messages[i]));
    told = repeats ? messages : [...told, ...messages];
  }
  return told;
}

/** Returns the last message of the user and of the agent in a turn. */
function pairOf({ inputs, outputs }: Turn): Message[] {
  const human = inputMessages(inputs).findLast((message) => roleOf(message) === "human");
  const ai = outputMessages(outputs).findLast((message) => roleOf(message) === "ai");
  return [human, ai].filter((message) => message !== undefined);
}

/** Compares role and content; ids are ignored, since messages may get them on the way. */
const isSame = (one: Message, other: Message | undefined): boolean =>
  other !== undefined && roleOf(one) === roleOf(other) && contentOf(one) === contentOf(other);

const lines = (messages: readonly Message[]): string =>
  messages.map((message) => `${roleOf(message)}: ${contentOf(message)}`).join("\n\n");
