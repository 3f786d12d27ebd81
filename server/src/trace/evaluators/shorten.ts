/** Cuts the middle of a long text and says how much is missing. */
export function shorten(text: string, max: number): string {
  if (text.length <= max) return text;
  const head = Math.ceil(max * 0.7);
  const tail = max - head;
  const missing = text.length - max;
  return `${wellFormed(text.slice(0, head))}\n[… truncated: ${missing} characters …]\n${wellFormed(text.slice(text.length - tail))}`;
}

/** Removes halves of surrogate pairs, which a cut leaves. */
const wellFormed = (text: string): string => text.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, "");
