import { groupBy } from "../../base/group-by.ts";
import { meanInterval } from "../experiments/bootstrap-interval.ts";
import { SAME } from "../experiments/summarize-deltas.ts";
import type { Results } from "./schema.ts";
import type { PreferenceRow } from "./sql.ts";

type KeyResults = Results["keys"][number];

/** One reviewer's judgement on an example: the share of the second experiment, 0 to 1. */
interface Judgement {
  example: string;
  reviewer: string;
  name: string | null;
  kind: PreferenceRow["kind"];
  share: number;
}

/**
 * Summarizes the preferences of each key. An example counts once, with the average over its reviewers; the interval is
 * the bootstrap's over examples.
 *
 * @param placeOfRun example and experiment (0 or 1) by run
 */
export function summarizePreferences(
  rows: PreferenceRow[],
  placeOfRun: ReadonlyMap<string, { example: string; side: 0 | 1 }>,
): KeyResults[] {
  const keys = [...new Set(rows.map((row) => row.key))].toSorted();
  return keys.flatMap((key) => {
    const judgements = pairScores(
      rows.filter((row) => row.key === key),
      placeOfRun,
    );
    return judgements.length === 0 ? [] : [summarizeKey(key, judgements)];
  });
}

function pairScores(
  rows: PreferenceRow[],
  placeOfRun: ReadonlyMap<string, { example: string; side: 0 | 1 }>,
): Judgement[] {
  const groups = new Map<string, { row: PreferenceRow; scores: [number[], number[]]; example: string }>();
  for (const row of rows) {
    const place = placeOfRun.get(row.run_id);
    if (!place) continue;
    const id = `${place.example} ${row.kind} ${row.reviewer} ${row.kind === "api" ? (row.group_id ?? "") : ""}`;
    const group = groups.get(id) ?? { row, scores: [[], []] as [number[], number[]], example: place.example };
    group.scores[place.side].push(row.score);
    groups.set(id, group);
  }
  return [...groups.values()].flatMap(({ row, scores: [first, second], example }) => {
    if (first.length === 0 || second.length === 0) return [];
    const difference = average(second) - average(first);
    const share = difference > SAME ? 1 : difference < -SAME ? 0 : 0.5;
    return [{ example, reviewer: row.reviewer, name: row.name, kind: row.kind, share }];
  });
}

function summarizeKey(key: string, judgements: Judgement[]): KeyResults {
  const byExample = groupBy(judgements, ({ example }) => example);
  const shares = Float64Array.from(byExample.values(), (list) => average(list.map(({ share }) => share)));
  let pairs = 0;
  let agreeing = 0;
  for (const list of byExample.values()) {
    for (let i = 0; i < list.length; i++) {
      for (let j = i + 1; j < list.length; j++) {
        pairs++;
        if (list[i]!.share === list[j]!.share) agreeing++;
      }
    }
  }
  const count = (list: Iterable<number>) => {
    const all = [...list];
    const wins: [number, number] = [
      all.filter((share) => share < 0.5).length,
      all.filter((share) => share > 0.5).length,
    ];
    return { wins, ties: all.length - wins[0] - wins[1] };
  };
  return {
    key,
    judged: byExample.size,
    ...count(shares),
    win_rate: average([...shares]),
    interval: meanInterval(shares),
    agreement: pairs === 0 ? null : agreeing / pairs,
    reviewers: [...groupBy(judgements, ({ kind, reviewer }) => `${kind} ${reviewer}`).values()].map((list) => ({
      reviewer: list[0]!.reviewer,
      name: list[0]!.name,
      kind: list[0]!.kind,
      judged: list.length,
      ...count(list.map(({ share }) => share)),
    })),
  };
}

const average = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
