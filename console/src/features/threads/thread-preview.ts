import { asMessages } from "../../ui/messages/message.ts";
import { readFailure } from "./run-failure.ts";
import type { ThreadLine } from "./queries.ts";

const MAX_LENGTH = 200;

/** Summarizes a thread in a line: its error, its pending question, or its last message. */
export function previewThread({ extracted, error, interrupts }: ThreadLine): string {
  const failure = readFailure(error);
  if (failure) return failure.message.slice(0, MAX_LENGTH);
  const payload = Object.values(interrupts ?? {}).flat()[0]?.value;
  if (payload !== undefined && payload !== null) return toText(findQuestion(payload));
  return toText(extracted?.last ?? extracted?.first);
}

/** Returns what a thread began with, for its title: the text of the first message in its values. */
export function titleThread(values: unknown): string {
  for (const value of Object.values(values ?? {})) {
    const [first] = asMessages(value) ?? [];
    if (first) return toText(first.content).trim();
  }
  return "";
}

/** Returns the question in an interrupt's value, where it has one. */
function findQuestion(payload: unknown): unknown {
  const { question, message, description, action_requests: requests } = payload as Record<string, unknown>;
  const [request] = Array.isArray(requests) ? (requests as { name?: string; description?: string }[]) : [];
  return question ?? message ?? description ?? request?.description ?? request?.name ?? payload;
}

function toText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value.slice(0, MAX_LENGTH);
  if (Array.isArray(value)) {
    const texts = value.map((part: { text?: unknown } | null) => part?.text).filter((text) => typeof text === "string");
    if (texts.length > 0) return texts.join(" ").slice(0, MAX_LENGTH);
  }
  return JSON.stringify(value).slice(0, MAX_LENGTH);
}
