import { type Message, messageText } from "../../ui/messages/message.ts";

const contentOf = (message: Message): string =>
  JSON.stringify([
    message.role,
    messageText(message) || message.content,
    message.toolCalls.map(({ name, args }) => [name, args]),
  ]);

/** Returns the number of messages with which both conversations begin alike. Ids differ between threads, and do not count. */
export function countShared(a: readonly Message[], b: readonly Message[]): number {
  const most = Math.min(a.length, b.length);
  for (let at = 0; at < most; at++) if (contentOf(a[at]!) !== contentOf(b[at]!)) return at;
  return most;
}
