import type { StoreOperation } from "../../../../graph-host/src/protocol.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import { cleanStrings } from "../../base/http/json-body.ts";
import { checkKey } from "./check-key.ts";
import { toConditions } from "./filter.ts";
import { listNamespaces, putItems, searchItems, selectItems } from "./sql.ts";

/**
 * Runs a graph's batch as if its operations ran one after the other, in as few round trips as that takes:
 * neighbours of a kind go in one statement, and a batch of one kind needs no transaction around it.
 *
 * `index` of a put and `query` of a search do nothing here, as in LangGraph's own store when no index is
 * configured.
 * @returns LangGraph's results: Items (times as ISO text) or null, arrays of Items, namespaces; null for a put
 */
export async function runStoreOperations(sql: Sql, operations: StoreOperation[]): Promise<unknown[]> {
  if (operations.length === 0) return [];
  const cleaned = cleanStrings(operations) as StoreOperation[];
  const groups = groupNeighbours(cleaned);
  if (groups.length === 1) return runGroup(sql, groups[0]!);
  return sql.begin(async (tx) => {
    const results: unknown[] = [];
    for (const group of groups) results.push(...(await runGroup(tx, group)));
    return results;
  });
}

function groupNeighbours(operations: StoreOperation[]): StoreOperation[][] {
  const groups: StoreOperation[][] = [];
  for (const operation of operations) {
    const last = groups.at(-1);
    if (last && last[0]!.op === operation.op) last.push(operation);
    else groups.push([operation]);
  }
  return groups;
}

async function runGroup(sql: Sql | Transaction, group: StoreOperation[]): Promise<unknown[]> {
  const gets = group.filter((one) => one.op === "get");
  if (gets.length > 0)
    return JSON.parse(
      await selectItems(
        sql,
        gets.map(({ namespace, key }) => ({ namespace, key })),
      ),
    ) as unknown[];

  const puts = group.filter((one) => one.op === "put");
  if (puts.length > 0) {
    // of several puts to one key the last one counts
    const byKey = new Map(
      puts.map(({ namespace, key, value }) => [JSON.stringify([namespace, key]), { namespace, key, value }]),
    );
    for (const put of byKey.values()) checkKey(put.namespace, put.key);
    await putItems(sql, [...byKey.values()]);
    return puts.map(() => null);
  }
  // sent together; the connection answers them in order
  return Promise.all(group.map(async (one) => JSON.parse(await read(sql, one)) as unknown));
}

function read(sql: Sql | Transaction, operation: StoreOperation): Promise<string> {
  if (operation.op === "search") {
    const { namespace_prefix, filter, limit = 10, offset = 0 } = operation;
    return searchItems(sql, { prefix: namespace_prefix, conditions: toConditions(filter), limit, offset });
  }
  if (operation.op !== "list") throw new Error(`unknown store operation ${operation.op}`);
  const { match_conditions = [], max_depth, limit, offset } = operation;
  return listNamespaces(sql, { conditions: match_conditions, maxDepth: max_depth ?? null, limit, offset });
}
