import type { Permission } from "../../base/auth/permissions.ts";
import type { Principal } from "../../base/auth/principal.ts";
import type { TraceDeps } from "../deps.ts";
import { zulu } from "../runs/run-fields.ts";
import { loadScope } from "../runs/load-scope.ts";
import { RunScope } from "../runs/run-scope.ts";
import { viewerOf } from "../views/change-view.ts";
import { findRunsByContent, findRunsById, type FoundRun, findThreads } from "./find-runs.ts";
import { type Kind, KINDS, type Result } from "./schema.ts";
import { findNamed, findProjectNames } from "./sql.ts";

/** Permission without which a kind is not searched. */
const NEEDED: Record<Kind, Permission> = {
  project: "projects:read",
  experiment: "datasets:read",
  dataset: "datasets:read",
  prompt: "prompts:read",
  view: "projects:read",
  annotation_queue: "annotation-queues:read",
  evaluator: "evaluators:read",
  rule: "rules:read",
  trace: "runs:read",
  run: "runs:read",
  thread: "runs:read",
};

/** Part of an id: at least four hexadecimal digits, with or without dashes. */
const ID_PART = /^[0-9a-f-]{4,36}$/i;

/** Whether a text that is a part of ids is hardly a word as well, such as "added", or a year. */
const isHardlyWord = (text: string) => text.length >= 6 && /\d/.test(text);

interface Answer {
  groups: { kind: Kind; results: Result[] }[];
  content_searched_since: string | null;
  incomplete: Kind[];
}

/** Searches what the caller may read, by name, part of an id and content. */
export async function searchEverywhere(
  deps: Pick<TraceDeps, "sql" | "clickhouse" | "projects" | "settings">,
  principal: Principal,
  { q: text, limit }: { q: string; limit: number },
): Promise<Answer> {
  const { sql, clickhouse } = deps;
  const kinds = new Set(KINDS.filter((kind) => principal.permissions.has(NEEDED[kind])));
  const scope = await loadScope(deps, RunScope.of(principal));
  const readsRuns = kinds.has("run");
  const nothing = { runs: [] as FoundRun[], since: null, isComplete: true };
  const byIdFirst: ReturnType<typeof findRunsById> =
    readsRuns && ID_PART.test(text) ? findRunsById(clickhouse, scope, text.toLowerCase(), limit) : Promise.resolve([]);
  const [named, byId, byContent, threads] = await Promise.all([
    findNamed(sql, viewerOf(principal), kinds, text, limit),
    byIdFirst,
    // to find out that a text occurs nowhere takes the longest
    readsRuns
      ? byIdFirst.then((found) =>
          isHardlyWord(text) && found.length > 0 && found !== "incomplete"
            ? nothing
            : findRunsByContent(clickhouse, scope, text, 2 * limit),
        )
      : nothing,
    readsRuns ? findThreads(clickhouse, scope, text, limit) : [],
  ]);
  const isIncomplete = byId === "incomplete" || !byContent.isComplete;
  const ids = byId === "incomplete" ? [] : byId;
  const runs = [...new Map([...ids, ...byContent.runs].map((run) => [run.id, run])).values()];
  const found = joinThreads(threads === "incomplete" ? [] : threads, byContent.runs);
  const projects = [...new Set([...runs, ...found].map((item) => item.project_id))];
  const names = await findProjectNames(sql, principal.workspaceId, projects);
  const inProject = ({ id, name, project_id, at }: Pick<FoundRun, "id" | "name" | "project_id" | "at">): Result => ({
    id,
    name,
    project_id,
    project_name: names.get(project_id) ?? null,
    at: zulu(at),
  });
  // rows of projects that are being deleted name none
  const ofRuns = (isTrace: boolean) =>
    runs.filter((run) => run.isTrace === isTrace && names.has(run.project_id)).map(inProject);
  const results = (kind: Kind): Result[] => {
    if (kind === "trace" || kind === "run") return ofRuns(kind === "trace").slice(0, limit);
    if (kind === "thread") {
      return found
        .filter((thread) => names.has(thread.project_id))
        .slice(0, limit)
        .map((thread) => inProject({ ...thread, name: thread.id }));
    }
    return named.filter((item) => item.kind === kind).map(({ kind: _kind, ...item }) => item);
  };
  return {
    groups: KINDS.map((kind) => ({ kind, results: results(kind) })).filter((group) => group.results.length > 0),
    content_searched_since: byContent.since === null ? null : zulu(byContent.since),
    incomplete: [
      ...(isIncomplete ? (["trace", "run"] as const) : []),
      ...(threads === "incomplete" ? (["thread"] as const) : []),
    ],
  };
}

type FoundThread = Pick<FoundRun, "id" | "project_id" | "at">;

/** Returns the threads by id, then those of the runs that contain the text, without repeating one. */
function joinThreads(byId: readonly FoundThread[], runs: readonly FoundRun[]): FoundThread[] {
  const ofRuns = runs.flatMap(({ threadId, project_id, at }) =>
    threadId === null ? [] : [{ id: threadId, project_id, at }],
  );
  const known = new Map<string, FoundThread>();
  for (const thread of [...byId, ...ofRuns]) {
    const key = `${thread.project_id} ${thread.id}`;
    if (!known.has(key)) known.set(key, thread);
  }
  return [...known.values()];
}
