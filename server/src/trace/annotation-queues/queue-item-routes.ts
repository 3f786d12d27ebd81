import type { Principal } from "../../base/auth/principal.ts";
import { notFound } from "../../base/errors.ts";
import { platform, v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import * as rows from "./item-sql.ts";
import { addPairs } from "./pair-runs.ts";
import { addQueueItems, encodePosition, fromSection, readPosition, toQueueItem, toSection } from "./queue-items.ts";
import * as schema from "./queue-item-schema.ts";
import { changeStatus, NO_ITEM } from "./review-item.ts";
import { statusBody } from "./item-schema.ts";
import { reviewerIdentity } from "./reviewer.ts";
import { queueParams } from "./schema.ts";
import { findQueueRow } from "./sql.ts";

const shared = { tag: "Annotation queues" } as const;
const reading = { ...shared, method: "GET", permission: "annotation-queues:read" } as const;
const changing = { ...shared, permission: "annotation-queues:update", audit: "data" } as const;

/** Routes of items, as the newest clients use them: runs and threads; and of the pairs of pairwise queues. */
export function queueItemRoutes(deps: TraceDeps): Route[] {
  const { sql } = deps;
  const identify = (principal: Principal) => reviewerIdentity(sql, principal);
  const checkQueue = async (tenantId: string, id: string): Promise<void> => {
    if (!(await findQueueRow(sql, tenantId, id))) throw notFound("Annotation queue not found");
  };
  const find = async (principal: Principal, queueId: string, itemId: string): Promise<rows.ItemRow> => {
    const item = await rows.findItem(sql, principal.workspaceId, await identify(principal), itemId);
    if (item?.queue_id !== queueId) throw notFound(NO_ITEM);
    return item;
  };

  return [
    route({
      ...changing,
      method: "POST",
      ...platform("/annotation-queues/items/:queue_item_id/status"),
      summary: "Set the caller's status of an item of an annotation queue: viewed reserves it, completed counts",
      params: schema.statusParams,
      body: statusBody,
      out: { 200: schema.statusAnswer },
      errors: [403, 404, 409],
      async handler({ params: { queue_item_id: id }, body, principal, c }) {
        const item = await changeStatus(sql, principal.workspaceId, await identify(principal), id, body);
        return c.json({
          queue_item_id: id,
          status: body.status ?? null,
          override_added_at: body.override_added_at == null ? null : item.effective_added_at,
          is_archived: item.archived_at !== null,
        });
      },
    }),
    route({
      ...changing,
      method: "POST",
      ...platform("/annotation-queues/:queue_id/items"),
      summary: "Add runs and threads to an annotation queue; those that it has stay as they are",
      params: queueParams,
      query: schema.createItemsQuery,
      body: schema.createItemsBody,
      out: { 201: schema.createdItems },
      async handler({ params, query, body, principal, c }) {
        const { workspaceId } = principal;
        const me = await identify(principal);
        const extend = query.extend_trace_retention ?? false;
        const items = await addQueueItems(deps, workspaceId, me, params.queue_id, body.items, extend);
        return c.json({ items: items.map(toQueueItem) }, 201);
      },
    }),
    route({
      ...reading,
      ...platform("/annotation-queues/:queue_id/items"),
      summary: "List the items of a section of an annotation queue, in the caller's order",
      params: queueParams,
      query: schema.listItemsQuery,
      out: { 200: schema.listedItems },
      errors: [400, 404],
      async handler({ params, query, principal, c }) {
        const { workspaceId } = principal;
        await checkQueue(workspaceId, params.queue_id);
        const me = await identify(principal);
        const backward = query.direction === "backward";
        const filter = { ...query, status: fromSection(query.status) };
        const page = { limit: query.page_size + 1, from: readPosition(query.cursor), backward };
        const found = await rows.listItemsFrom(sql, workspaceId, me, params.queue_id, filter, page);
        const items = found.slice(0, query.page_size);
        const more = found.length > items.length ? encodePosition(items.at(-1)!) : null;
        const ordered = backward ? items.toReversed() : items;
        return c.json({ items: ordered.map(toQueueItem), next_cursor: more });
      },
    }),
    route({
      ...reading,
      ...platform("/annotation-queues/:queue_id/items/count"),
      summary: "Count the items of a section of an annotation queue",
      params: queueParams,
      query: schema.countQuery,
      out: { 200: schema.counted },
      async handler({ params, query, principal, c }) {
        const { workspaceId } = principal;
        const { status, start_time, end_time, ...times } = query;
        await checkQueue(workspaceId, params.queue_id);
        const filter = {
          ...times,
          status: status === "all" ? undefined : fromSection(status),
          ...(status === "archived" && { archived_since: start_time, archived_until: end_time }),
        };
        const me = await identify(principal);
        return c.json({ count: await rows.countItems(sql, workspaceId, me, params.queue_id, filter) });
      },
    }),
    route({
      ...changing,
      method: "POST",
      ...platform("/annotation-queues/:queue_id/items/delete"),
      summary: "Remove items from an annotation queue",
      params: queueParams,
      body: schema.deleteItemsBody,
      out: { 200: schema.deletedItems },
      async handler({ params, body, principal, c }) {
        await checkQueue(principal.workspaceId, params.queue_id);
        const chosen = { items: body.item_ids };
        const deleted = await rows.deleteItems(sql, principal.workspaceId, params.queue_id, chosen);
        return c.json({ message: `${deleted} items removed` });
      },
    }),
    route({
      ...changing,
      method: "PATCH",
      ...platform("/annotation-queues/:queue_id/items/:item_id"),
      summary: "Update the times of an item of an annotation queue",
      params: schema.itemParams,
      body: schema.patchItemBody,
      out: { 200: schema.queueItem },
      async handler({ params: { queue_id, item_id }, body, principal, c }) {
        if (!(await rows.updateItem(sql, principal.workspaceId, queue_id, item_id, body))) throw notFound(NO_ITEM);
        return c.json(toQueueItem(await find(principal, queue_id, item_id)));
      },
    }),
    route({
      ...reading,
      ...platform("/annotation-queues/:queue_id/items/:item_id/placement"),
      summary: "Get the section of an item of an annotation queue, and its place there, from 0",
      params: schema.itemParams,
      out: { 200: schema.placement },
      async handler({ params: { queue_id, item_id }, principal, c }) {
        const item = await find(principal, queue_id, item_id);
        const position = await rows.findPosition(sql, principal.workspaceId, await identify(principal), item);
        const { item_type } = item;
        return c.json({ item_type, section: toSection(item.section), position, cursor: encodePosition(item, true) });
      },
    }),
    route({
      ...changing,
      method: "POST",
      ...v1("/annotation-queues/:queue_id/pairs"),
      summary: "Add pairs of runs to a pairwise annotation queue",
      params: queueParams,
      body: schema.pairsBody,
      out: { 200: schema.createdItems },
      async handler({ params, body, principal, c }) {
        const { workspaceId } = principal;
        const ids = await addPairs(deps, workspaceId, params.queue_id, body.pairs);
        const items = await rows.listItemsByIds(sql, workspaceId, await identify(principal), params.queue_id, ids);
        const byId = new Map(items.map((item) => [item.queue_run_id, item]));
        return c.json({ items: ids.flatMap((id) => byId.get(id) ?? []).map(toQueueItem) });
      },
    }),
  ];
}
