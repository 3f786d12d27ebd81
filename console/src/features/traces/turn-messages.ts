import type { Message } from "../../ui/messages/message.ts";
import { findMessages } from "./find-messages.ts";

/**
 * Returns the messages that a turn added to its conversation: the user's last message and the reply. Inputs and outputs
 * may contain only the turn or the whole conversation. Null if they contain no messages.
 */
export function turnMessages(inputs: unknown, outputs: unknown): Message[] | null {
  const before = findMessages(inputs) ?? [];
  const after = findMessages(outputs) ?? [];
  if (before.length === 0 && after.length === 0) return null;
  const lastUser = after.findLastIndex(({ role }) => role === "user");
  if (lastUser >= 0) return after.slice(lastUser);
  const asked = before.findLastIndex(({ role }) => role === "user");
  return [...before.slice(asked === -1 ? before.length - 1 : asked), ...after];
}
