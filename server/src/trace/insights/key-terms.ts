/** Names of clusters without a model: the words that are frequent in a cluster and rare in the others. */

const COMMON = new Set(
  `a about after all am an and any are as asked at bad be been but by can could do does feedback for from get give had has
  have hello help hi how i if in into is it its just like make me my need no not of on or our please run should so some
  tell than thank thanks that the their them then there these they this to up us want was we were what when where which
  who why will with would you your answer`.split(/\s+/),
);
const TERMS = 3;
const WORD = /\p{L}[\p{L}\p{M}\p{N}'’-]{1,29}/gu;

/** Returns a name for each list of texts. */
export function keyTerms(clusters: readonly (readonly string[])[]): string[] {
  const counts = clusters.map((texts) => {
    const found = new Map<string, number>();
    for (const text of texts) {
      for (const word of new Set(text.toLowerCase().match(WORD))) {
        if (!COMMON.has(word)) found.set(word, (found.get(word) ?? 0) + 1);
      }
    }
    return found;
  });
  const clustersWith = new Map<string, number>();
  for (const found of counts) {
    for (const word of found.keys()) clustersWith.set(word, (clustersWith.get(word) ?? 0) + 1);
  }
  return counts.map((found, i) => {
    const total = Math.max(1, clusters[i]!.length);
    const score = ([word, n]: [string, number]) =>
      (n / total) * Math.log(1 + clusters.length / clustersWith.get(word)!);
    const best = [...found]
      .filter(([, n]) => n > 1 || total < 3)
      .toSorted((a, b) => score(b) - score(a) || (a[0] < b[0] ? -1 : 1));
    return (
      best
        .slice(0, TERMS)
        .map(([word]) => word)
        .join(", ") || `Group ${i + 1}`
    );
  });
}
