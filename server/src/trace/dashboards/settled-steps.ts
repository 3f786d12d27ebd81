/**
 * Remembers the rows of series for steps whose hours are all copied. A copy never changes, so such a step is read again
 * only when one of its hours has another copy, and a dashboard over weeks costs what its newest steps cost.
 */
import { groupBy } from "../../base/group-by.ts";
import { render } from "../../base/clickhouse/fragment.ts";
import type { RunScope } from "../runs/run-scope.ts";
import { conditionOn, type RunSelection } from "../runs/selection.ts";
import { canServe, type Facts, HOUR_SECONDS, isLasting, type Span } from "../runs/fact-source.ts";
import type { SeriesRow } from "./series-point.ts";
import { MAX_POINTS, type SeriesRequest } from "./series-request.ts";
import { digest, type StepMemory } from "../run-facts/step-memory.ts";

/** Spans of one statement that are to be read; it reads all between the first and the last if there are more. */
const MAX_SPANS = 32;

interface Statement {
  scope: RunScope;
  selection: RunSelection;
  request: Pick<SeriesRequest, "since" | "until" | "stepSeconds" | "offsetSeconds">;
  facts: Facts | undefined;
  sums: boolean;
  /** What else the rows depend on. */
  columns: unknown;
}

/**
 * Reads the rows of a statement: remembered ones, and the others by `read`, which gets the copies and spans that are
 * left, or all copies where nothing is remembered, and returns at most MAX_POINTS + 1 rows.
 */
export async function readSteps(
  memory: StepMemory,
  statement: Statement,
  read: (facts: Facts | undefined) => Promise<SeriesRow[]>,
): Promise<SeriesRow[]> {
  const { selection, request, facts, sums } = statement;
  const length = spanSeconds(request);
  if (!facts || length === undefined || !canServe(selection, sums) || !isLasting(selection)) return read(facts);
  const keys = keysOfSpans(statement, facts, length);
  const known = new Map<number, SeriesRow[]>();
  for (const [start, key] of keys) {
    const text = memory.get(key);
    if (text !== undefined) known.set(start, JSON.parse(text) as SeriesRow[]);
  }
  const period = { from: request.since.getTime() / 1000, to: request.until.getTime() / 1000 };
  const left = subtract(period, [...known.keys()], length);
  if (left.length > MAX_SPANS) {
    const joined = { from: left[0]!.from, to: left.at(-1)!.to };
    left.splice(0, left.length, joined);
    for (const start of known.keys()) if (start >= joined.from && start < joined.to) known.delete(start);
  }
  const rows = left.length === 0 ? [] : await read(known.size === 0 ? facts : within(facts, left));
  const spanOf = ({ bucket }: SeriesRow) => startOfSpan(Number(bucket), length, request.offsetSeconds);
  const bySpan = groupBy(rows, spanOf);
  // beyond the limit of a statement rows are missing
  if (rows.length <= MAX_POINTS) {
    for (const [start, key] of keys) if (!known.has(start)) memory.set(key, JSON.stringify(bySpan.get(start) ?? []));
  }
  return [...known.values(), rows].flat().toSorted(compareRows);
}

/** Seconds of the shortest span of whole steps and whole hours, if steps can begin with hours. */
function spanSeconds({ stepSeconds, offsetSeconds = 0 }: Statement["request"]): number | undefined {
  if (offsetSeconds % HOUR_SECONDS !== 0) return undefined;
  return (stepSeconds / greatestDivisor(stepSeconds, HOUR_SECONDS)) * HOUR_SECONDS;
}

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));

const startOfSpan = (at: number, length: number, offset = 0): number =>
  Math.floor((at - offset) / length) * length + offset;

/** Returns the keys of the spans that are within the period and have no open hour, by their start. */
function keysOfSpans({ scope, selection, request, columns }: Statement, facts: Facts, length: number) {
  const { since, until, stepSeconds, offsetSeconds = 0 } = request;
  const { projects, is_root, is_head, run_types } = selection;
  const condition = render(conditionOn(scope.withBuilds([]), selection));
  const rest = { projects, is_root, is_head, run_types, condition, stepSeconds, offsetSeconds, columns };
  const prefix = digest(JSON.stringify([scope.tenantId, rest]));
  const builds = groupBy(facts.builds, ({ hour }) => startOfSpan(hour * HOUR_SECONDS, length, offsetSeconds));
  const keys = new Map<number, string>();
  for (const [start, all] of builds) {
    const isWithin = start * 1000 >= since.getTime() && (start + length) * 1000 <= until.getTime();
    if (!isWithin || facts.open.some(({ from, to }) => from < start + length && to > start)) continue;
    const sorted = all.map(({ build }) => build).toSorted((a, b) => a - b);
    keys.set(start, digest(`${prefix} ${start} ${sorted.join()}`));
  }
  return keys;
}

/** Returns what is left of a period without these spans. */
function subtract(period: Span, starts: number[], length: number): Span[] {
  const left: Span[] = [];
  let { from } = period;
  for (const start of starts.toSorted((a, b) => a - b)) {
    if (start > from) left.push({ from, to: start });
    from = start + length;
  }
  if (from < period.to) left.push({ from, to: period.to });
  return left;
}

function within(facts: Facts, spans: Span[]): Facts {
  const has = (from: number) => spans.some((span) => span.from < from + HOUR_SECONDS && span.to > from);
  return { ...facts, builds: facts.builds.filter(({ hour }) => has(hour * HOUR_SECONDS)), spans };
}

/** As the statements order rows. */
function compareRows(a: SeriesRow, b: SeriesRow): number {
  const [x, y] = [a.group_name ?? "", b.group_name ?? ""];
  return Number(a.bucket) - Number(b.bucket) || (x < y ? -1 : Number(x > y));
}
