import { unprocessable } from "../../base/errors.ts";
import { readFilter } from "../filter/read-filter.ts";
import { limited } from "../runs/limited.ts";
import { loadScope } from "../runs/load-scope.ts";
import { RunScope } from "../runs/run-scope.ts";
import type { Cause, Change, Changes, ChangesBody } from "./change-schema.ts";
import { describeCause, describeChange } from "./describe-change.ts";
import { compare, type Found, mean } from "./find-causes.ts";
import type { SeriesDeps } from "./series-point.ts";
import { type Moments, readSegments, type Segment } from "./segment-sql.ts";

const MAX_CAUSES = 5;
const MAX_DAYS = 31;
/** Metadata that differs in each trace or says nothing of it. */
const IGNORED =
  /^(thread_id|session_id|conversation_id|run_id|trace_id|request_id|LANGSMITH_|LANGCHAIN_|langgraph_(step|checkpoint_ns|path|triggers|request_id)|ls_(model_name|method|integration|temperature|max_tokens)|lc_hub_commit_hash|revision_id|langgraph_node)/;
const KINDS = ["name", "tag", "model", "prompt_commit", "revision", "tool", "node"];

/** Compares a period with the one before of the same length, and finds what got worse where. */
export async function readChanges(deps: SeriesDeps, tenantId: string, body: ChangesBody): Promise<Changes> {
  const since = new Date(body.start_time);
  const until = body.end_time == null ? new Date() : new Date(body.end_time);
  const length = until.getTime() - since.getTime();
  if (!(length > 0)) throw unprocessable("end_time must be after start_time.");
  if (length > MAX_DAYS * 86_400_000) throw unprocessable(`The period must be at most ${MAX_DAYS} days.`);
  const periods = { previous: new Date(since.getTime() - length), since, until };
  const filters = body.filter ? [readFilter(body.filter)] : [];
  const selection = limited({ projects: body.session, filters });
  const scope = await loadScope(deps, RunScope.ofTenant(tenantId), selection);
  const segments = (await readSegments(deps.clickhouse, scope, selection, periods)).filter(isTelling);
  const all = segments.find(({ kind }) => kind === "");
  const most = body.max_causes ?? MAX_CAUSES;
  const feedbackKeys = Object.keys(all?.now ?? {})
    .filter((name) => name.startsWith("feedback:"))
    .map((name) => name.slice("feedback:".length))
    .toSorted();
  return {
    start_time: since.toISOString(),
    end_time: until.toISOString(),
    previous_start_time: periods.previous.toISOString(),
    traces: { before: all?.before["errors"]?.n ?? 0, now: all?.now["errors"]?.n ?? 0 },
    changes: [
      toChange(segments, "errors", "error_rate", null, most),
      toChange(segments, "latency", "latency", null, most),
      toChange(segments, "cost", "cost", null, most),
      ...feedbackKeys.map((key) => toChange(segments, `feedback:${key}`, "feedback", key, most)),
    ],
    events: segments
      .filter(({ kind, before, now }) => isEvent(kind) && before["errors"]!.n === 0 && now["errors"]!.n > 0)
      .map(({ kind, value, first }) => ({
        dimension: kind as Changes["events"][number]["dimension"],
        value,
        first_seen: `${first.replace(" ", "T")}Z`,
      }))
      .toSorted((a, b) => (a.first_seen < b.first_seen ? -1 : 1))
      .slice(0, 50),
  };
}

const isEvent = (kind: string): boolean => ["model", "prompt_commit", "revision"].includes(kind);

function isTelling({ kind }: Segment): boolean {
  if (kind === "" || KINDS.includes(kind)) return true;
  return !IGNORED.test(kind.slice("metadata:".length));
}

function toChange(
  segments: readonly Segment[],
  name: string,
  measure: Change["measure"],
  feedbackKey: string | null,
  most: number,
): Change {
  const { before, now, verdict, found } = compare(segments, name, measure === "feedback" ? -1 : 1, most);
  const change = { measure, feedback_key: feedbackKey, before: toMeasure(before), now: toMeasure(now), verdict };
  return {
    ...change,
    text: describeChange(change),
    causes: found.map((one) => toCause(one, measure)),
  };
}

const toMeasure = (moments: Moments) => ({ n: moments.n, value: mean(moments) });

function toCause({ segment, same, before, now, contribution, share }: Found, measure: Change["measure"]): Cause {
  const cause = {
    ...toProperty(segment),
    same_traces: same.map(toProperty),
    before: toMeasure(before),
    now: toMeasure(now),
    contribution,
    share,
    ...filterOf(segment),
  };
  return { ...cause, text: describeCause(cause, measure) };
}

function toProperty({ kind, value }: Segment): Pick<Cause, "dimension" | "key" | "value"> {
  const key = /^metadata:(.*)$/s.exec(kind)?.[1];
  return { dimension: key === undefined ? (kind as Cause["dimension"]) : "metadata", key: key ?? null, value };
}

const METADATA: Record<string, string> = {
  model: "ls_model_name",
  prompt_commit: "lc_hub_commit_hash",
  revision: "revision_id",
  node: "langgraph_node",
};

/** Builds the filter that selects a segment's traces: of their root, or of any of their runs. */
function filterOf({ kind, value }: Segment): Pick<Cause, "filter" | "tree_filter"> {
  const text = JSON.stringify(value);
  const pair = (key: string) => `and(eq(metadata_key, ${JSON.stringify(key)}), eq(metadata_value, ${text}))`;
  if (kind === "name") return { filter: `eq(name, ${text})`, tree_filter: null };
  if (kind === "tag") return { filter: `has(tags, ${text})`, tree_filter: null };
  if (kind === "tool")
    return { filter: null, tree_filter: `and(in(run_type, ["tool", "retriever"]), eq(name, ${text}))` };
  const key = METADATA[kind];
  if (key !== undefined) return { filter: null, tree_filter: pair(key) };
  return { filter: pair(kind.slice("metadata:".length)), tree_filter: null };
}
