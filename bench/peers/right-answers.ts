import type { Found, QuestionId, Wanted } from "./side.ts";
import {
  absentWord,
  COMMON_WORD,
  rareWord,
  regionOf,
  type SeededSpan,
  type SeededSpans,
  type Totals,
} from "./spans.ts";

/** Percentiles may be estimated. */
const TOLERANCE = { p50: 0.05, p99: 0.05 } as Record<string, number>;

/** What is asked about a data set, and what is right. */
export class RightAnswers {
  readonly #data: SeededSpans;
  /** Kept, because finding them takes longer than an answer. */
  readonly #newest = new Map<string, { spans: string[]; traces: string[] }>();
  readonly #totals = new Map<number, Totals>();

  constructor(data: SeededSpans) {
    this.#data = data;
  }

  /** Returns what a sample of a question is about. */
  wanted(id: QuestionId, sample: number): Wanted {
    const trace = this.#data.sample(sample);
    const word = id === "common" ? COMMON_WORD : id === "rare" ? rareWord(sample) : absentWord(sample);
    return {
      trace,
      since: trace[0]!.start - 1000,
      span: trace[1 + (sample % (trace.length - 1))]!,
      region: regionOf(sample),
      word,
    };
  }

  /** @throws if it is not the right answer */
  check(id: QuestionId, wanted: Wanted, found: Found, answers: unknown[]): void {
    if (id === "totals") return this.#checkTotals(found);
    if (id === "since") return this.#checkTotals(found, wanted.since);
    if (id === "run") {
      equal(found.spans, [wanted.span.id]);
      return hasContents(answers, [wanted.span]);
    }
    if (id === "trace") {
      equal(found.spans?.toSorted(), wanted.trace.map((span) => span.id).toSorted());
      return hasContents(answers, wanted.trace);
    }
    const expected = this.#expected(id, wanted);
    if (found.traces) equal(found.traces, expected.traces);
    else equal(found.spans, expected.spans);
  }

  #expected(id: QuestionId, { region, word }: Wanted): { spans: string[]; traces: string[] } {
    const key = `${id} ${id === "attribute" ? region : word}`;
    let expected = this.#newest.get(key);
    if (!expected) {
      const conditions: Partial<Record<QuestionId, (span: SeededSpan) => boolean>> = {
        roots: (span) => span.parentId === undefined,
        errors: (span) => span.isError,
        attribute: (span) => span.region === region,
      };
      const hasWord = ({ input, output }: SeededSpan) => input.includes(word) || output.includes(word);
      expected = this.#data.newest(conditions[id] ?? hasWord);
      this.#newest.set(key, expected);
    }
    return expected;
  }

  #checkTotals({ totals = {} }: Found, since = 0): void {
    const expected = this.#totals.get(since) ?? this.#data.totals(since);
    this.#totals.set(since, expected);
    for (const name of ["traces", "tokens", "p50", "p99"] as const) {
      const [value, right] = [totals[name] ?? Number.NaN, expected[name]];
      if (!(Math.abs(value - right) <= right * (TOLERANCE[name] ?? 0)))
        throw new Error(`${name} is ${value}, not ${right}`);
    }
  }
}

function equal(found: string[] = [], expected: string[]): void {
  if (found.length !== expected.length) throw new Error(`${found.length} found, not ${expected.length}`);
  const at = expected.findIndex((id, n) => found[n] !== id);
  if (at >= 0) throw new Error(`number ${at + 1} of ${expected.length} is ${found[at]}, not ${expected[at]}`);
}

function hasContents(answers: unknown[], spans: SeededSpan[]): void {
  const text = JSON.stringify(answers);
  for (const { id, input, output } of spans)
    if (!text.includes(input) || !text.includes(output)) throw new Error(`${id} lacks its input or output`);
}
