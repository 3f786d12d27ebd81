import { RE2JS } from "re2js";

import type { Masking } from "../../../../host-kit/src/masking/mask-json.ts";
import { byField, type MaskingByField, readPath } from "../../../../host-kit/src/masking/read-masking.ts";
import type { MaskedPart } from "./schema.ts";

/** Compiles what a rule masks, by field. Patterns are RE2's, of which a search takes linear time. */
export function compileRule({ fields, path, detectors, pattern, replacement }: MaskedPart): MaskingByField {
  const masking: Masking = {
    ...readPath(path),
    detectors,
    ...(pattern !== null && { replacePattern: replacer(RE2JS.compile(pattern)) }),
    ...(replacement !== null && { replacement }),
  };
  return byField([{ fields, masking }]);
}

/** Longer texts are searched in parts, by which one search is bounded; a match may reach so far beyond its part. */
const PART = 8192;
const REACH = 1024;
/** Time that a pattern may take, in milliseconds, and within which. */
const SPENT_MS = 500;
const WINDOW_MS = 10_000;

/**
 * Searches with a pattern of the workspace. One search takes linear time, but a search at each match may take quadratic
 * time: a pattern that has used its time masks texts as a whole until the window is over.
 */
function replacer(expression: RE2JS): NonNullable<Masking["replacePattern"]> {
  let window = { since: -Infinity, spent: 0 };
  const replaceIn = (text: string, replace: (found: string) => string): string => {
    let result = "";
    let at = 0;
    for (let start = 0; start < text.length; start = Math.max(start + PART, at)) {
      const before = performance.now();
      const part = text.slice(start, start + PART + REACH);
      const matcher = expression.matcher(part);
      while (matcher.find() && matcher.start() < PART) {
        if (matcher.end() > matcher.start()) {
          result += text.slice(at, start + matcher.start()) + replace(matcher.group()!);
          at = start + matcher.end();
        }
        if (window.spent + performance.now() - before > SPENT_MS) break;
      }
      window.spent += performance.now() - before;
      if (window.spent > SPENT_MS) return replace(text);
    }
    return at === 0 ? text : result + text.slice(at);
  };
  return (text, replace) => {
    const now = performance.now();
    if (now - window.since > WINDOW_MS) window = { since: now, spent: 0 };
    return window.spent > SPENT_MS ? replace(text) : replaceIn(text, replace);
  };
}
