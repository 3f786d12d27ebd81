import { Readable } from "node:stream";

import type { Context } from "hono";
import { z } from "zod";

import type { Principal } from "../../base/auth/principal.ts";
import { notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { jsonFrom } from "../runs/json-stream.ts";
import { RunScope } from "../runs/run-scope.ts";
import { serializationContext } from "../runs/serialization-context.ts";
import { addItems, type RunToAdd } from "./add-items.ts";
import { exportItems } from "./export-items.ts";
import * as schema from "./item-schema.ts";
import * as rows from "./item-sql.ts";
import { populateQueue } from "./populate-queue.ts";
import { reviewerIdentity } from "./reviewer.ts";
import { queueParams } from "./schema.ts";
import { serializeItem, serializeItems } from "./serialize-items.ts";
import { findQueue } from "./sql.ts";

const shared = { tag: "Annotation queues" } as const;
const reading = { ...shared, method: "GET", permission: "annotation-queues:read" } as const;
const changing = { ...shared, permission: "annotation-queues:update", audit: "data" } as const;
const NO_ITEM = "Annotation queue run not found";

/** Routes of the runs in annotation queues. */
export function annotationQueueItemRoutes(deps: TraceDeps): Route[] {
  const { sql } = deps;
  const identify = (principal: Principal) => reviewerIdentity(sql, principal);
  const checkQueue = async (tenantId: string, id: string): Promise<void> => {
    if ((await findQueue(sql, tenantId, id)) === undefined) throw notFound("Annotation queue not found");
  };
  const add = async (
    principal: Principal,
    queueId: string,
    runs: readonly RunToAdd[],
    extend: boolean | undefined,
  ): Promise<Response> => rawJson(await addItems(deps, principal.workspaceId, queueId, runs, extend ?? true));
  const contextOf = (principal: Principal, c: Context) => {
    const scope = RunScope.of(principal);
    return { scope, context: serializationContext(deps.settings, scope, c) };
  };

  return [
    route({
      ...changing,
      method: "POST",
      ...v1("/annotation-queues/populate"),
      summary: "Add the runs of projects to an annotation queue, optionally those of a filter",
      body: schema.populateBody,
      out: { 200: schema.populated },
      errors: [400, 404],
      handler: async ({ body, principal, c }) => c.json(await populateQueue(deps, RunScope.of(principal), body)),
    }),
    route({
      ...changing,
      method: "POST",
      ...v1("/annotation-queues/:queue_id/runs"),
      summary: "Add runs to an annotation queue; those that it has stay as they are",
      params: queueParams,
      query: schema.addQuery,
      body: schema.addBody,
      out: { 200: z.array(schema.queueRun) },
      handler: ({ params, query, body, principal }) =>
        add(principal, params.queue_id, body, query.extend_trace_retention),
    }),
    route({
      ...changing,
      method: "POST",
      ...v1("/annotation-queues/:queue_id/runs/by-key"),
      summary: "Add runs of named projects to an annotation queue",
      params: queueParams,
      query: schema.addQuery,
      body: schema.addByKeyBody,
      out: { 200: z.array(schema.queueRun) },
      handler: ({ params, query, body, principal }) =>
        add(principal, params.queue_id, body, query.extend_trace_retention),
    }),
    route({
      ...reading,
      ...v1("/annotation-queues/:queue_id/runs"),
      summary: "List the runs of an annotation queue, in the caller's order",
      params: queueParams,
      query: schema.listItemsQuery,
      out: { 200: z.array(schema.runInQueue) },
      async handler({ params, query, principal, c }) {
        await checkQueue(principal.workspaceId, params.queue_id);
        const me = await identify(principal);
        const items = await rows.listItems(sql, principal.workspaceId, me, params.queue_id, query, query);
        const { scope, context } = contextOf(principal, c);
        return jsonFrom(serializeItems(deps, scope, context, items, query.include_stats !== false));
      },
    }),
    route({
      ...reading,
      ...v1("/annotation-queues/:queue_id/run/:index"),
      summary: "Get a run that needs the caller's review by its place, from 0; reserves nothing",
      params: schema.indexParams,
      query: schema.indexQuery,
      out: { 200: schema.runInQueue },
      async handler({ params, query, principal, c }) {
        const { queue_id, index: offset } = params;
        await checkQueue(principal.workspaceId, queue_id);
        const filter = { status: "needs_my_review" as const };
        const me = await identify(principal);
        const [item] = await rows.listItems(sql, principal.workspaceId, me, queue_id, filter, { limit: 1, offset });
        if (!item) throw notFound(`No run at index ${offset} of the annotation queue needs your review`);
        const { scope, context } = contextOf(principal, c);
        return rawJson(await serializeItem(deps, scope, context, item, query.include_extra ?? false));
      },
    }),
    route({
      ...changing,
      method: "PATCH",
      ...v1("/annotation-queues/:queue_id/runs/:queue_run_id"),
      summary: "Update the times of a run in an annotation queue",
      params: schema.itemParams,
      body: schema.patchItemBody,
      out: { 200: schema.nothing },
      async handler({ params, body, principal, c }) {
        const { queue_id, queue_run_id } = params;
        if (!(await rows.updateItem(sql, principal.workspaceId, queue_id, queue_run_id, body))) throw notFound(NO_ITEM);
        return c.json({});
      },
    }),
    route({
      ...changing,
      method: "DELETE",
      ...v1("/annotation-queues/:queue_id/runs/:queue_run_id"),
      summary: "Remove a run from an annotation queue, by its id there or its own",
      params: schema.itemParams,
      out: { 200: z.object({ message: z.string() }) },
      async handler({ params, principal, c }) {
        const { queue_id, queue_run_id } = params;
        const deleted = await rows.deleteItems(sql, principal.workspaceId, queue_id, { ids: [queue_run_id] });
        if (deleted === 0) throw notFound(NO_ITEM);
        return c.json({ message: "Run removed from the annotation queue" });
      },
    }),
    route({
      ...changing,
      method: "POST",
      ...v1("/annotation-queues/:queue_id/runs/delete"),
      summary: "Remove runs from an annotation queue",
      params: queueParams,
      body: schema.deleteItemsBody,
      out: { 200: z.object({ deleted: z.int() }) },
      async handler({ params, body, principal, c }) {
        await checkQueue(principal.workspaceId, params.queue_id);
        const chosen = body.delete_all ? { except: body.exclude_run_ids ?? [] } : { ids: body.run_ids! };
        return c.json({ deleted: await rows.deleteItems(sql, principal.workspaceId, params.queue_id, chosen) });
      },
    }),
    route({
      ...reading,
      ...v1("/annotation-queues/:queue_id/size"),
      summary: "Count the runs of an annotation queue that are not completed, or those of a section",
      params: queueParams,
      query: schema.sizeQuery,
      out: { 200: schema.size },
      async handler({ params, query, principal, c }) {
        await checkQueue(principal.workspaceId, params.queue_id);
        const me = await identify(principal);
        const counts = await rows.countSections(sql, principal.workspaceId, me, params.queue_id);
        return c.json({ size: query.status ? counts[query.status] : counts.total - counts.completed });
      },
    }),
    route({
      ...reading,
      ...v1("/annotation-queues/:queue_id/total_size"),
      summary: "Count all runs of an annotation queue",
      params: queueParams,
      out: { 200: schema.size },
      async handler({ params, principal, c }) {
        await checkQueue(principal.workspaceId, params.queue_id);
        const me = await identify(principal);
        return c.json({
          size: (await rows.countSections(sql, principal.workspaceId, me, params.queue_id)).total,
        });
      },
    }),
    route({
      ...reading,
      ...v1("/annotation-queues/:queue_id/total_archived"),
      summary: "Count the completed runs of an annotation queue",
      params: queueParams,
      query: schema.archivedQuery,
      out: { 200: schema.size },
      async handler({ params, query, principal, c }) {
        await checkQueue(principal.workspaceId, params.queue_id);
        return c.json({ size: await rows.countArchived(sql, principal.workspaceId, params.queue_id, query) });
      },
    }),
    route({
      ...reading,
      ...v1("/annotation-queues/:queue_id/runs/resolve/:queue_run_id"),
      summary: "Get the section of a run in an annotation queue, and its place there, from 0",
      params: schema.itemParams,
      out: { 200: schema.resolved },
      async handler({ params, principal, c }) {
        const me = await identify(principal);
        const item = await rows.findItem(sql, principal.workspaceId, me, params.queue_run_id);
        if (item?.queue_id !== params.queue_id) throw notFound(NO_ITEM);
        const position = await rows.findPosition(sql, principal.workspaceId, me, item);
        return c.json({ section: item.section, position });
      },
    }),
    route({
      ...reading,
      method: "POST",
      ...v1("/annotation-queues/:queue_id/export"),
      summary: "Export the runs of an annotation queue with their feedback, as CSV or JSON",
      params: queueParams,
      query: schema.exportQuery,
      body: schema.exportBody,
      out: { 200: ["text/csv", z.array(z.record(z.string(), z.unknown()))] },
      async handler({ params, query, body, principal }) {
        await checkQueue(principal.workspaceId, params.queue_id);
        const chunks = exportItems(deps, RunScope.of(principal), await identify(principal), params.queue_id, {
          format: query.format,
          detail: body.include_annotator_detail,
          added: { added_since: body.start_time, added_until: body.end_time },
        });
        if (query.format === "json") return jsonFrom(chunks);
        return new Response(Readable.toWeb(Readable.from(chunks, { objectMode: false })) as ReadableStream, {
          headers: {
            "Content-Type": "text/csv; charset=utf-8",
            "Content-Disposition": 'attachment; filename="annotation-queue.csv"',
          },
        });
      },
    }),
  ];
}
