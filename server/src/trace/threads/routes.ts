import { z } from "zod";

import { notFound } from "../../base/errors.ts";
import { v1, v2 } from "../../base/http/aliases.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { readCursor } from "../runs/cursor.ts";
import { serializationContext } from "../runs/serialization-context.ts";
import { checkProjects } from "../runs/query-runs.ts";
import { readFilters, pageText, serializePage } from "../runs/query-v2.ts";
import { loadScope } from "../runs/load-scope.ts";
import { limited } from "../runs/limited.ts";
import { answerPage } from "../runs/page-answer.ts";
import { RunScope } from "../runs/run-scope.ts";
import { stats } from "../runs/stats-schema.ts";
import { statsOfRuns } from "../runs/stats-runs.ts";
import { countThreads, readTurns, type ThreadSelection } from "./clickhouse.ts";
import { planThreadTraces } from "./plan-serialization.ts";
import { previewThread } from "./preview-thread.ts";
import { groupByThread, queryThreads, statsOfThread } from "./read-threads.ts";
import * as schema from "./schema.ts";

const shared = { tag: "Threads", permission: "runs:read" } as const;

/** Turns of a thread in a preview. */
const MAX_TURNS = 100;

const groupSelection = (body: schema.GroupBody): ThreadSelection =>
  limited({
    projects: [body.session_id],
    since: body.start_time,
    until: body.end_time,
    filters: readFilters(body.filter),
  });

export function threadRoutes(deps: TraceDeps): Route[] {
  return [
    route({
      ...shared,
      ...v1("/runs/group"),
      method: "POST",
      summary: "List the threads of a project, latest turn first or sorted by what the list shows",
      body: schema.groupBody,
      out: { 200: schema.groups },
      errors: [400, 404],
      async handler({ body, principal, c }) {
        const selection = groupSelection(body);
        const scope = await loadScope(deps, RunScope.of(principal), selection);
        await checkProjects(deps, scope, [body.session_id]);
        return c.json(await groupByThread(deps, scope, selection, body));
      },
    }),
    route({
      ...shared,
      ...v1("/runs/group/stats"),
      method: "POST",
      summary: "Get statistics of the threads of a project",
      body: schema.groupBody,
      out: { 200: stats.extend({ group_count: z.int() }) },
      errors: [400, 404],
      async handler({ body, principal, c }) {
        const selection = groupSelection(body);
        const scope = await loadScope(deps, RunScope.of(principal), selection);
        await checkProjects(deps, scope, [body.session_id]);
        const [statistics, group_count] = await Promise.all([
          statsOfRuns(deps, scope, { ...selection, is_head: true, has_thread: true }),
          countThreads(deps, scope, selection),
        ]);
        return c.json({ ...statistics, group_count });
      },
    }),
    route({
      ...shared,
      ...v1("/runs/threads/:thread_id"),
      method: "GET",
      summary: "Get the messages of a thread as text",
      params: schema.threadParams,
      query: schema.previewQuery,
      out: { 200: schema.preview },
      async handler({ params, query, principal, c }) {
        const scope = RunScope.of(principal);
        const selection: ThreadSelection = { projects: [query.session_id], threads: [params.thread_id] };
        const turns = await readTurns(deps.clickhouse, scope, selection, MAX_TURNS);
        if (turns.length === 0) throw notFound("Thread not found");
        const formats = (query.select ?? schema.FORMATS) as schema.Format[];
        const previews = Object.fromEntries(formats.map((format) => [format, previewThread(turns, format)]));
        return c.json({ thread_id: params.thread_id, previews });
      },
    }),
    ...threadV2Routes(deps),
  ];
}

function threadV2Routes(deps: TraceDeps): Route[] {
  const v2Shared = { ...shared, tag: "Threads (v2)", errorFamily: "problem" } as const;
  return [
    route({
      ...v2Shared,
      ...v2("/threads/query"),
      method: "POST",
      summary: "Query the threads of a project, in pages, latest turn first or sorted by what the list shows",
      body: schema.threadsBody,
      out: { 200: schema.threadsPage },
      errors: [400, 404],
      async handler({ body, principal, c }) {
        const scope = RunScope.of(principal);
        await checkProjects(deps, scope, [body.project_id]);
        const selection: ThreadSelection = limited({
          projects: [body.project_id],
          since: body.min_start_time,
          until: body.max_start_time,
          filters: readFilters(body.filter, body.thread_filter, body.trace_filter),
          tree_filter: readFilters(body.tree_filter)[0],
        });
        const known = await loadScope(deps, scope, selection);
        const page = await queryThreads(deps, known, selection, body);
        return answerPage(c, JSON.stringify(page));
      },
    }),
    route({
      ...v2Shared,
      ...v2("/threads/:thread_id/traces"),
      method: "GET",
      summary: "List the turns of a thread, oldest first",
      params: schema.threadParams,
      query: schema.tracesQuery,
      out: { 200: schema.tracesPage },
      errors: [400],
      async handler({ params, query, principal, c }) {
        const scope = RunScope.of(principal);
        await checkProjects(deps, scope, [query.project_id]);
        const selection = limited({
          projects: [query.project_id],
          threads: [params.thread_id],
          is_head: true,
          filters: readFilters(query.filter),
        });
        const page = { descending: false, limit: query.page_size, after: readCursor(query.cursor) };
        const context = serializationContext(deps.settings, scope, c);
        return rawJson(
          pageText(await serializePage(deps, scope, context, selection, planThreadTraces(query.selects), page)),
        );
      },
    }),
    route({
      ...v2Shared,
      ...v2("/threads/:thread_id/stats"),
      method: "GET",
      summary: "Get statistics of a thread",
      params: schema.threadParams,
      query: schema.statsQuery,
      out: { 200: schema.threadStats },
      errors: [400],
      async handler({ params, query, principal, c }) {
        const scope = RunScope.of(principal);
        const selection: ThreadSelection = limited({
          projects: [query.session_id],
          threads: [params.thread_id],
          filters: readFilters(query.filter),
        });
        return c.json(await statsOfThread(deps, await loadScope(deps, scope, selection), selection, query.selects));
      },
    }),
  ];
}
