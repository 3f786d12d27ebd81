/** Lines of both texts around each change, as `diff -u` prints them. */
const CONTEXT = 3;
/** Lines compared at most; beyond them texts are shown as replaced. The table has their product. */
const MAX_LINES = 4000;

interface Line {
  sign: " " | "-" | "+";
  text: string;
}

/** Returns a unified diff without file headers; empty when the texts are equal. */
export function lineDiff(before: string, after: string): string {
  if (before === after) return "";
  const lines = compare(before.split("\n"), after.split("\n"));
  const shown = new Set<number>();
  lines.forEach(({ sign }, at) => {
    if (sign === " ") return;
    for (let near = at - CONTEXT; near <= at + CONTEXT; near++) shown.add(near);
  });
  let text = "";
  let [old, now] = [1, 1];
  lines.forEach(({ sign, text: line }, at) => {
    if (shown.has(at)) {
      if (at === 0 || !shown.has(at - 1)) text += `@@ -${old} +${now} @@\n`;
      text += `${sign}${line}\n`;
    }
    if (sign !== "+") old++;
    if (sign !== "-") now++;
  });
  return text;
}

/** Compares by the longest common subsequence of the lines between the common start and the common end. */
function compare(before: string[], after: string[]): Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before.at(-1 - end) === after.at(-1 - end)) end++;
  const middle = changes(before.slice(start, before.length - end), after.slice(start, after.length - end));
  const same = (text: string): Line => ({ sign: " ", text });
  return [...before.slice(0, start).map(same), ...middle, ...before.slice(before.length - end).map(same)];
}

function changes(before: string[], after: string[]): Line[] {
  const removed = (text: string): Line => ({ sign: "-", text });
  const added = (text: string): Line => ({ sign: "+", text });
  if (before.length > MAX_LINES || after.length > MAX_LINES) return [...before.map(removed), ...after.map(added)];
  const width = after.length + 1;
  // common[i * width + j]: length of the longest common subsequence from line i and line j on
  const common = new Uint16Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      common[i * width + j] =
        before[i] === after[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
    }
  }
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      lines.push({ sign: " ", text: before[i]! });
      i++;
      j++;
    } else if (
      j === after.length ||
      (i < before.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!)
    ) {
      lines.push(removed(before[i++]!));
    } else {
      lines.push(added(after[j++]!));
    }
  }
  return lines;
}
