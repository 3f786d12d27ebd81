/** Spans that every server gets, made from a number, so that the right answers are known without storing them. */
export interface SeededSpan {
  /** Hexadecimal, as are the ids below. */
  id: string;
  traceId: string;
  parentId: string | undefined;
  name: string;
  kind: "AGENT" | "CHAIN" | "LLM" | "TOOL" | "RETRIEVER";
  /** Milliseconds since 1970. */
  start: number;
  end: number;
  input: string;
  output: string;
  tokens: { input: number; output: number } | undefined;
  isError: boolean;
  region: string;
  session: string;
}

export interface Totals {
  traces: number;
  tokens: number;
  /** Of traces, in milliseconds. */
  p50: number;
  p99: number;
}

/** Name of the project in each server. */
export const PROJECT = "bench";
export const SPANS_PER_TRACE = 20;
const DAYS_MS = 7 * 86_400_000;
const REGIONS = 10;
const RARE_WORDS = 20;

/** Words that no other text contains: one in every second input, one of twenty in every sixth trace, and one in none. */
export const COMMON_WORD = "invoice";
export const rareWord = (n: number): string => `kestrel${twoDigits(n % RARE_WORDS)}`;
export const absentWord = (n: number): string => `narwhal${twoDigits(n % RARE_WORDS)}`;
export const regionOf = (n: number): string => `region-${twoDigits(n % REGIONS)}`;

function twoDigits(n: number): string {
  return String(n).padStart(2, "0");
}

/** Returns numbers between 0 and 1, always the same for a seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Syllables of a consonant and a vowel, which form none of the words above. */
const WORDS = (() => {
  const random = randomNumbers(1);
  const of = (letters: string) => letters[Math.floor(random() * letters.length)]!;
  const syllables = () => Array.from({ length: 1 + Math.floor(random() * 4) });
  return Array.from({ length: 4000 }, () =>
    syllables()
      .map(() => of("bcdfghklmnprstvz") + of("aeiou"))
      .join(""),
  );
})();

/** Makes the spans of a trace, in the order of their starts. The traces of a data set do not overlap. */
function makeTrace(index: number, traces: number, newest: number): SeededSpan[] {
  const random = randomNumbers(1000 + index);
  const hex = (bytes: number) =>
    Array.from({ length: bytes * 2 }, () => Math.floor(random() * 16).toString(16)).join("");
  const text = (length: number) => {
    let made = "";
    while (made.length < length) made += `${WORDS[Math.floor(random() ** 2 * WORDS.length)]} `;
    return made.trim();
  };
  const gap = Math.floor(DAYS_MS / traces);
  const begin = newest - (traces - index) * gap;
  const traceId = hex(16);
  const session = `thread-${Math.floor(index / 5)}`;
  const step = 20 + Math.floor(random() * Math.min(400, gap / (SPANS_PER_TRACE + 2) - 20));
  const spans: SeededSpan[] = [];
  const add = (name: string, kind: SeededSpan["kind"], parentId: string | undefined, steps: number) => {
    const start = begin + spans.length * step;
    const span: SeededSpan = {
      ...{ id: hex(8), traceId, parentId, name, kind, start, end: start + Math.floor(step * steps), isError: false },
      ...{ input: text(kind === "CHAIN" ? 250 : 350), output: text(kind === "CHAIN" ? 200 : 300) },
      tokens:
        kind === "LLM"
          ? { input: 80 + Math.floor(random() * 400), output: 20 + Math.floor(random() * 200) }
          : undefined,
      ...{ region: regionOf(Math.floor(random() * REGIONS)), session },
    };
    if (random() < 0.5) span.input += ` ${COMMON_WORD}`;
    spans.push(span);
    return span;
  };
  const root = add("agent", "AGENT", undefined, SPANS_PER_TRACE + random());
  add("search documents", "RETRIEVER", root.id, 0.8);
  for (let n = 1; n <= 6; n++) {
    const parent = add(`step ${n}`, "CHAIN", root.id, 2.9);
    add("chat", "LLM", parent.id, 0.9);
    add("call tool", "TOOL", parent.id, 0.9);
  }
  // the same region in a whole trace, as a deployment has one
  for (const span of spans) span.region = root.region;
  if (index % 5 === 0 || index % 5 === 2) spans[4 + 3 * (index % 6)]!.isError = true;
  if (index % 6 === 1) spans[3 + 3 * (index % 5)]!.output += ` ${rareWord((index - 1) / 6)}`;
  return spans;
}

/** A data set: its traces, from the oldest to the newest, and what the questions about it must find. */
export class SeededSpans {
  readonly #count: number;
  readonly #newest: number;

  /** @param newest time in milliseconds before which all traces end */
  constructor(spans: number, newest: number) {
    this.#count = Math.floor(spans / SPANS_PER_TRACE);
    this.#newest = newest;
  }

  get traces(): number {
    return this.#count;
  }

  get spans(): number {
    return this.#count * SPANS_PER_TRACE;
  }

  trace(index: number): SeededSpan[] {
    return makeTrace(index, this.#count, this.#newest);
  }

  /** Returns a trace that is neither among the newest nor among the oldest, another one for each number. */
  sample(n: number): SeededSpan[] {
    return this.trace(Math.floor(this.#count * (0.1 + 0.8 * ((n * 0.618034) % 1))));
  }

  /**
   * Returns the ids of the newest 100 spans that pass, and of the newest 100 traces that have one, each from the newest
   * to the oldest.
   */
  newest(passes: (span: SeededSpan) => boolean): { spans: string[]; traces: string[] } {
    const found = { spans: [] as string[], traces: [] as string[] };
    for (let index = this.#count - 1; index >= 0 && found.traces.length < 100; index--) {
      const passing = this.trace(index).filter(passes);
      if (passing.length > 0) found.traces.push(passing[0]!.traceId);
      found.spans.push(...passing.toReversed().map(({ id }) => id));
    }
    return { spans: found.spans.slice(0, 100), traces: found.traces };
  }

  /** Returns the totals of the traces that begin at this time or later. */
  totals(since = 0): Totals {
    const latencies: number[] = [];
    let tokens = 0;
    for (let index = 0; index < this.#count; index++) {
      const spans = this.trace(index);
      if (spans[0]!.start < since) continue;
      latencies.push(spans[0]!.end - spans[0]!.start);
      for (const span of spans) tokens += (span.tokens?.input ?? 0) + (span.tokens?.output ?? 0);
    }
    latencies.sort((a, b) => a - b);
    const at = (share: number) => latencies[Math.ceil(latencies.length * share) - 1]!;
    return { traces: latencies.length, tokens, p50: at(0.5), p99: at(0.99) };
  }
}
