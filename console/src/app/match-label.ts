/**
 * Says how well a label matches the typed words: 3 begins with the text, 2 has a word that begins with it, 1 contains
 * each word, in any order, in the label or among its other words; 0 does not match.
 */
export function matchLabel(label: string, text: string, words = ""): number {
  const [name, typed] = [label.toLowerCase(), text.toLowerCase()];
  if (name.startsWith(typed)) return 3;
  if (name.includes(` ${typed}`)) return 2;
  const all = `${name} ${words}`;
  return typed.split(/\s+/).every((word) => all.includes(word)) ? 1 : 0;
}

/** Returns those that match, the best first, otherwise in their order. */
export function bestMatches<T extends { label: string; words?: string }>(choices: readonly T[], text: string): T[] {
  return choices
    .map((choice) => ({ choice, rank: matchLabel(choice.label, text, choice.words) }))
    .filter(({ rank }) => rank > 0)
    .toSorted((a, b) => b.rank - a.rank)
    .map(({ choice }) => choice);
}
