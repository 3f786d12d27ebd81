/** Joins `a` and `b`, either of which may be empty. An existing conjunction is extended. */
export function conjoin(a: string, b: string): string {
  const [left, right] = [a.trim(), b.trim()];
  if (left === "" || right === "") return left || right;
  if (left === right || left.includes(right)) return left;
  const inner = /^and\(([\s\S]*)\)$/.exec(left)?.[1];
  return inner !== undefined && isBalanced(inner) ? `and(${inner.trim()}, ${right})` : `and(${left}, ${right})`;
}

/** True when no bracket closes without being opened. */
function isBalanced(text: string): boolean {
  let depth = 0;
  let quote = "";
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (quote !== "") {
      if (char === "\\") i += 1;
      else if (char === quote) quote = "";
    } else if (char === '"' || char === "'") quote = char;
    else if (char === "(") depth += 1;
    else if (char === ")" && --depth < 0) return false;
  }
  return depth === 0;
}
