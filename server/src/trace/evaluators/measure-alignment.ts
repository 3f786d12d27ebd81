import { measureAgreement } from "../annotation-queues/measure-agreement.ts";

/** Score and value of a judgement, by an evaluator or a person. */
export interface Rating {
  score: number | null;
  value: unknown;
}

export interface RatedPair {
  id: string;
  judge: Rating;
  person: Rating;
}

export interface Alignment {
  items: number;
  /** Share of equal judgements, from 0 to 1; null without items. */
  accuracy: number | null;
  /** Cohen's kappa: agreement beyond chance; null without items, or when both always gave one answer. */
  kappa: number | null;
  /** Null when no pair has two scores. */
  mean_absolute_error: number | null;
  /** Counts by the judge's and the person's category; null for more than twelve categories. */
  confusion: { categories: string[]; counts: number[][] } | null;
}

const MAX_CATEGORIES = 12;

/** Returns the category of a rating: its score if both ratings have one, else its value. */
function categoriesOf({ judge, person }: RatedPair): { judge: string; person: string } {
  const byScore = judge.score !== null && person.score !== null;
  const name = (rating: Rating): string => (byScore ? String(rating.score) : text(rating.value ?? rating.score));
  return { judge: name(judge), person: name(person) };
}

const text = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value ?? null));

export const isAgreed = (pair: RatedPair): boolean => {
  const { judge, person } = categoriesOf(pair);
  return judge === person;
};

/** Measures how far a judge agrees with people. @param pairs one for each judged thing */
export function measureAlignment(pairs: readonly RatedPair[]): Alignment {
  if (pairs.length === 0) return { items: 0, accuracy: null, kappa: null, mean_absolute_error: null, confusion: null };
  const named = pairs.map((pair) => ({ id: pair.id, ...categoriesOf(pair) }));
  const [agreement] = measureAgreement(
    named.flatMap(({ id, judge, person }) => [
      { key: "", run_id: id, judge: "judge", category: judge },
      { key: "", run_id: id, judge: "person", category: person },
    ]),
  );
  const errors = pairs.flatMap(({ judge, person }) =>
    judge.score === null || person.score === null ? [] : [Math.abs(judge.score - person.score)],
  );
  return {
    items: pairs.length,
    accuracy: agreement!.percent_agreement,
    kappa: agreement!.kappa,
    mean_absolute_error: errors.length === 0 ? null : errors.reduce((sum, error) => sum + error, 0) / errors.length,
    confusion: confusion(named, labels(pairs)),
  };
}

/** Returns the values of categories that are scores, as the judge names them. */
function labels(pairs: readonly RatedPair[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const { judge, person } of pairs) {
    for (const { score, value } of [person, judge]) {
      if (score !== null && typeof value === "string") names.set(String(score), value);
    }
  }
  return names;
}

function confusion(
  named: readonly { judge: string; person: string }[],
  names: Map<string, string>,
): Alignment["confusion"] {
  const found = [...new Set(named.flatMap(({ judge, person }) => [judge, person]))].toSorted((a, b) => {
    const [x, y] = [Number(a), Number(b)];
    return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y;
  });
  if (found.length > MAX_CATEGORIES) return null;
  const counts = found.map(() => found.map(() => 0));
  for (const { judge, person } of named) counts[found.indexOf(judge)]![found.indexOf(person)]!++;
  return { categories: found.map((category) => names.get(category) ?? category), counts };
}
