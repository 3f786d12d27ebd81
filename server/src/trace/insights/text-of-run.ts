/** The text by which a run is embedded, summarized and shown to a model. */
import { wellFormed } from "../../base/well-formed.ts";
import { inputMessages, messageContent, messageRole } from "../runs/messages.ts";
import type { TextRow } from "./clickhouse.ts";

/** Characters of a text. */
export const MAX_TEXT = 2000;
const MAX_ERROR = 600;
const MAX_CONTEXT = 400;

/** What the user asked: the last message of the user, else the first text of the inputs, else their preview. */
export function questionOf({ inputs, inputs_preview }: Pick<TextRow, "inputs" | "inputs_preview">): string {
  const messages = readMessages(inputs);
  const asked = messages.findLast((message) => messageRole(message) === "human") ?? messages.at(-1);
  return tidy((asked && messageContent(asked)) || firstText(inputs) || inputs_preview || "", MAX_TEXT);
}

/** What failed: the error, else the comment of the bad feedback, with what was asked. Numbers and ids are left out. */
export function failureOf(row: TextRow, comment: string | undefined): string {
  const question = tidy(questionOf(row), MAX_CONTEXT);
  if (row.error) return tidy(`${withoutIds(row.error.slice(0, MAX_ERROR))}\nAsked: ${question}`, MAX_TEXT);
  const answer = tidy(row.outputs_preview ?? "", MAX_CONTEXT);
  const complaint = comment === undefined ? "Bad feedback" : `Bad feedback: ${tidy(comment, MAX_ERROR)}`;
  return tidy(`${complaint}\nAsked: ${question}\nAnswer: ${answer}`, MAX_TEXT);
}

const withoutIds = (text: string): string =>
  text.replaceAll(
    /\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b0x[0-9a-f]+\b|\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b|\d+/gi,
    "#",
  );

function readMessages(inputs: string | null) {
  try {
    return inputMessages(inputs);
  } catch {
    return [];
  }
}

const NAMES = ["question", "input", "query", "prompt", "text", "message", "content"];

function firstText(inputs: string | null): string | undefined {
  if (inputs === null) return undefined;
  try {
    const value: unknown = JSON.parse(inputs);
    if (typeof value !== "object" || value === null) return undefined;
    const entries = Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string");
    return (entries.find(([name]) => NAMES.includes(name.toLowerCase())) ?? entries[0])?.[1];
  } catch {
    return undefined;
  }
}

/** Removes control characters, joins white space, and cuts. */
export const tidy = (text: string, max: number): string =>
  wellFormed(
    text
      .slice(0, 4 * max)
      .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ")
      .trim()
      .slice(0, max),
  );
