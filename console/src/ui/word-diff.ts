/**
 * Compares two texts by words. The common prefix and suffix is removed first; the rest is compared by the algorithm of
 * Myers ("An O(ND) Difference Algorithm and Its Variations", 1986). Texts that differ too much for it are compared by
 * lines first, and only the changed blocks by words.
 */
export interface TextPart {
  kind: "same" | "removed" | "added";
  text: string;
}

/** Largest number of removed and added tokens that is searched for; memory grows with its square. */
const MAX_EDITS = 1000;

/** Words, numbers, single characters of scripts without spaces, line breaks, other white space, and punctuation. */
const WORDS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{M}\p{N}_]+|\r?\n|[^\S\r\n]+|[^]/gu;
const LINES = /[^\n]*\n|[^\n]+/g;

/** Returns the parts in reading order; in each change, the removed text comes before the added text. */
export function diffWords(before: string, after: string): TextPart[] {
  const words = diffTokens(before.match(WORDS) ?? [], after.match(WORDS) ?? []);
  if (words !== null) return joinParts(words);
  const lines = diffTokens(before.match(LINES) ?? [], after.match(LINES) ?? []) ?? replaced(before, after);
  return joinParts(pairChanges(lines).flatMap(refineChange));
}

const replaced = (before: string, after: string): TextPart[] => [
  { kind: "removed", text: before },
  { kind: "added", text: after },
];

/** @returns null if the lists differ by more than `MAX_EDITS` tokens */
function diffTokens(a: readonly string[], b: readonly string[]): TextPart[] | null {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const middle = shortestEdit(a.slice(start, a.length - end), b.slice(start, b.length - end));
  if (middle === null) return null;
  return [
    { kind: "same", text: a.slice(0, start).join("") },
    ...middle,
    { kind: "same", text: a.slice(a.length - end).join("") },
  ];
}

/** Finds the shortest list of edits, forwards by their number, and reads it back from the furthest points reached. */
function shortestEdit(a: readonly string[], b: readonly string[]): TextPart[] | null {
  const limit = Math.min(MAX_EDITS, a.length + b.length);
  const offset = limit + 1;
  const furthest = new Int32Array(2 * limit + 3);
  const history: Int32Array[] = [];
  for (let edits = 0; edits <= limit; edits++) {
    history.push(furthest.slice(offset - edits - 1, offset + edits + 2));
    for (let k = -edits; k <= edits; k += 2) {
      const isDown = k === -edits || (k !== edits && furthest[offset + k - 1]! < furthest[offset + k + 1]!);
      let x = isDown ? furthest[offset + k + 1]! : furthest[offset + k - 1]! + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      furthest[offset + k] = x;
      if (x >= a.length && x - k >= b.length) return readEdits(a, b, history);
    }
  }
  return null;
}

function readEdits(a: readonly string[], b: readonly string[], history: Int32Array[]): TextPart[] {
  const parts: TextPart[] = [];
  let [x, y] = [a.length, b.length];
  for (let edits = history.length - 1; edits >= 0; edits--) {
    const reached = history[edits]!;
    const at = (k: number) => reached[k + edits + 1]!;
    const k = x - y;
    const isDown = k === -edits || (k !== edits && at(k - 1) < at(k + 1));
    const previousX = edits === 0 ? 0 : isDown ? at(k + 1) : at(k - 1);
    const previousY = edits === 0 ? 0 : previousX - (isDown ? k + 1 : k - 1);
    while (x > previousX && y > previousY) {
      parts.push({ kind: "same", text: a[--x]! });
      y -= 1;
    }
    if (edits === 0) break;
    parts.push(isDown ? { kind: "added", text: b[--y]! } : { kind: "removed", text: a[--x]! });
  }
  return parts.toReversed();
}

/** Blocks of unchanged text, and changes with their removed and added text. */
type Block = { same: string } | { removed: string; added: string };

function pairChanges(parts: TextPart[]): Block[] {
  const blocks: Block[] = [];
  for (const { kind, text } of parts) {
    if (text === "") continue;
    const last = blocks.at(-1);
    if (kind === "same") {
      if (last && "same" in last) last.same += text;
      else blocks.push({ same: text });
    } else if (last && "removed" in last) last[kind] += text;
    else blocks.push({ removed: "", added: "", [kind]: text });
  }
  return blocks;
}

function refineChange(block: Block): TextPart[] {
  if ("same" in block) return [{ kind: "same", text: block.same }];
  const { removed, added } = block;
  return diffTokens(removed.match(WORDS) ?? [], added.match(WORDS) ?? []) ?? replaced(removed, added);
}

/** Joins neighbours; spaces between two changes belong to the change, so that a replaced phrase stays together. */
function joinParts(parts: TextPart[]): TextPart[] {
  const blocks: Block[] = [];
  const found = pairChanges(parts);
  for (const [index, block] of found.entries()) {
    const last = blocks.at(-1);
    const isInside = last && "removed" in last && index < found.length - 1;
    if ("same" in block && isInside && /^[^\S\n]+$/.test(block.same)) {
      last.removed += block.same;
      last.added += block.same;
    } else if ("removed" in block && last && "removed" in last) {
      last.removed += block.removed;
      last.added += block.added;
    } else blocks.push({ ...block });
  }
  return blocks
    .flatMap((block) =>
      "same" in block ? [{ kind: "same" as const, text: block.same }] : replaced(block.removed, block.added),
    )
    .filter(({ text }) => text !== "");
}
