/** Matches the messages of two commits, so that their texts can be compared. */
import { messageText, type PromptMessage } from "./manifest.ts";

export interface MessagePair {
  before: PromptMessage | null;
  after: PromptMessage | null;
}

/** Longest lists that are matched; the effort is the product of their lengths. */
const MOST = 300;

const kindText = (message: PromptMessage): string =>
  message.kind === "template" ? `${message.role} ${message.label}` : message.kind;

/** Matches messages of the same role in order, preferring those with the same text. */
export function alignMessages(before: PromptMessage[], after: PromptMessage[]): MessagePair[] {
  const [a, b] = [before.slice(0, MOST), after.slice(0, MOST)];
  const texts = [a.map(messageText), b.map(messageText)] as const;
  const score = (i: number, j: number): number =>
    kindText(a[i]!) !== kindText(b[j]!) ? 0 : texts[0][i] === texts[1][j] ? 3 : 2;
  const best = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const match = score(i, j);
      best[i]![j] = Math.max(best[i + 1]![j]!, best[i]![j + 1]!, match === 0 ? 0 : match + best[i + 1]![j + 1]!);
    }
  }
  const pairs: MessagePair[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const isBoth = i < a.length && j < b.length;
    const match = isBoth ? score(i, j) : 0;
    if (match > 0 && best[i]![j] === match + best[i + 1]![j + 1]!) {
      pairs.push({ before: a[i++]!, after: b[j++]! });
    } else if (j >= b.length || (isBoth && best[i + 1]![j]! >= best[i]![j + 1]!)) {
      pairs.push({ before: a[i++]!, after: null });
    } else pairs.push({ before: null, after: b[j++]! });
  }
  return pairs;
}
