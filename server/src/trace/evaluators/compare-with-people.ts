import type { Principal } from "../../base/auth/principal.ts";
import type { TraceDeps } from "../deps.ts";
import { type ComparedRow, selectCompared } from "./alignment-sql.ts";
import { isAgreed, measureAlignment, type RatedPair, type Rating } from "./measure-alignment.ts";
import type { AlignmentQuery } from "./wire-schema.ts";

/** Most judgements that are compared, the newest. */
export const MAX_COMPARED = 10_000;

type Compared = RatedPair & { row: ComparedRow; comment: string | null };

/** Compares an evaluator's judgements with people's, by key and version, and lists where they disagree. */
export async function compareWithPeople(
  { sql }: Pick<TraceDeps, "sql">,
  { workspaceId }: Principal,
  evaluatorId: string,
  { limit, offset, ...query }: AlignmentQuery,
) {
  const rows = await selectCompared(sql, workspaceId, evaluatorId, query, MAX_COMPARED + 1);
  const compared = rows.slice(0, MAX_COMPARED).map(toPair);
  const keys = [...new Set(compared.map(({ row }) => row.key))].toSorted();
  const disagreements = compared.filter((pair) => !isAgreed(pair)).toSorted((a, b) => distance(b) - distance(a));
  return {
    evaluator_id: evaluatorId,
    keys: keys.map((key) => {
      const ofKey = compared.filter(({ row }) => row.key === key);
      const versions = [...new Set(ofKey.map(({ row }) => row.version))].toSorted((a, b) => b - a);
      return {
        feedback_key: key,
        ...measureAlignment(ofKey),
        versions: versions.map((version) => ({
          version,
          ...measureAlignment(ofKey.filter(({ row }) => row.version === version)),
        })),
      };
    }),
    disagreements: {
      total: disagreements.length,
      items: disagreements.slice(offset, offset + limit).map(({ row, judge, person, comment }) => ({
        run_id: row.run_id,
        session_id: row.session_id,
        trace_id: row.trace_id,
        start_time: row.start_time,
        feedback_key: row.key,
        version: row.version,
        judge: { ...judge, comment: row.comment, feedback_id: row.feedback_id, judge_run_id: row.judge_run_id },
        person: { ...person, comment, name: row.person_name },
        is_corrected: row.correction !== null,
      })),
    },
    truncated: rows.length > MAX_COMPARED,
  };
}

export function toPair(row: ComparedRow): Compared {
  const corrected = readCorrection(row.correction, row.key);
  return {
    id: `${row.run_id} ${row.version}`,
    row,
    judge: { score: row.score, value: row.value ?? null },
    // a correction is about this judgement itself
    person: corrected ?? { score: row.person_score, value: row.person_value ?? null },
    comment: row.person_comment,
  };
}

/** Reads a correction: `{score}`, `{value}`, `{<key>: …}` or a text. */
export function readCorrection(correction: unknown, key: string): Rating | undefined {
  if (typeof correction === "string") return toRating(correction);
  if (correction === null || typeof correction !== "object") return undefined;
  const { score, value } = correction as { score?: unknown; value?: unknown };
  const rating = score == null ? undefined : toRating(score);
  if (rating) return { ...rating, value: value ?? rating.value };
  return toRating(value ?? (correction as Record<string, unknown>)[key]);
}

function toRating(value: unknown): Rating | undefined {
  if (typeof value === "boolean" || typeof value === "number") return { score: Number(value), value: null };
  return typeof value === "string" ? { score: null, value } : undefined;
}

/** How far a pair is apart; categories without scores are equally far. */
const distance = ({ judge, person }: RatedPair): number =>
  judge.score === null || person.score === null ? 1 : Math.abs(judge.score - person.score);
