/** Texts to search, in the place of a search engine or your own documents. */
const SOURCES: { title: string; text: string }[] = [
  {
    title: "Handbook",
    text: "Heat pumps work like a refrigerator in reverse, which moves heat from outside into the house.",
  },
  { title: "Price list", text: "Heat pumps cost between 8,000 and 20,000 euros, and a third of gas heating to run." },
  { title: "Test report", text: "Heat pumps fail to pay off where a house is poorly insulated and winters are hard." },
  { title: "Archive", text: "Gas boilers were the usual heating of the last century." },
];

const words = (text: string): Set<string> => new Set(text.toLowerCase().match(/\p{L}{4,}/gu) ?? []);

/** Finds the texts that share most words with the question, best first. */
export function search(question: string, limit: number): { title: string; text: string }[] {
  const asked = words(question);
  const score = (text: string) => [...words(text)].filter((word) => asked.has(word)).length;
  return SOURCES.map((source) => ({ ...source, score: score(source.text) }))
    .filter((source) => source.score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, limit);
}
