import type { StoreOperation } from "../../../../host-kit/src/host-protocol.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import { cleanStrings } from "../../base/http/json-body.ts";
import { checkKey } from "./check-key.ts";
import { toConditions } from "./filter.ts";
import { type ItemPut, type SemanticQuery, listNamespaces, putItems, searchItems, selectItems } from "./sql.ts";
import type { StoreRules } from "./store-rules.ts";

type Put = Extract<StoreOperation, { op: "put" }>;

/** Adjacent operations of one kind, with the vectors computed for them. */
interface Group {
  operations: StoreOperation[];
  /** Puts; of several to one key only the last. */
  puts: ItemPut[];
  /** Query vectors of semantic searches. */
  likenesses: Map<StoreOperation, SemanticQuery>;
}

/**
 * Runs a graph's batch as if its operations ran one after the other, in as few round trips as possible: adjacent
 * operations of one kind share a statement, and a batch of one kind needs no transaction. Vectors are computed first,
 * so that no connection waits for the project's code. Without an index, `index` of a put and `query` of a search have
 * no effect, as in LangGraph's own store.
 * @returns LangGraph's results: Items (times as ISO text) or null, arrays of Items, namespaces; null for a put
 */
export async function runStoreOperations(
  sql: Sql,
  rules: StoreRules,
  operations: StoreOperation[],
): Promise<unknown[]> {
  if (operations.length === 0) return [];
  const groups: Group[] = [];
  for (const group of groupNeighbours(cleanStrings(operations) as StoreOperation[])) {
    groups.push({
      operations: group,
      puts: await preparePuts(rules, group),
      likenesses: await likenesses(rules, group),
    });
  }
  if (groups.length === 1) return runGroup(sql, rules, groups[0]!);
  return sql.begin(async (tx) => {
    const results: unknown[] = [];
    for (const group of groups) results.push(...(await runGroup(tx, rules, group)));
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

async function preparePuts(rules: StoreRules, group: StoreOperation[]): Promise<ItemPut[]> {
  const puts = group.filter((operation): operation is Put => operation.op === "put");
  for (const { namespace, key } of puts) checkKey(namespace, key);
  const byKey = new Map(puts.map(({ op: _, ...put }) => [JSON.stringify([put.namespace, put.key]), put]));
  return rules.prepare([...byKey.values()]);
}

async function likenesses({ index }: StoreRules, group: StoreOperation[]): Promise<Group["likenesses"]> {
  const found: Group["likenesses"] = new Map();
  if (!index) return found;
  await Promise.all(
    group.map(async (operation) => {
      if (operation.op === "search" && operation.query) found.set(operation, await index.likeness(operation.query));
    }),
  );
  return found;
}

async function runGroup(sql: Sql | Transaction, rules: StoreRules, group: Group): Promise<unknown[]> {
  const gets = group.operations.filter((operation) => operation.op === "get");
  if (gets.length > 0) {
    const reads = gets.map(({ namespace, key, refresh_ttl: refresh = rules.refreshOnRead }) => ({
      namespace,
      key,
      refresh,
    }));
    return JSON.parse(await selectItems(sql, reads)) as unknown[];
  }
  if (group.puts.length > 0) {
    await putItems(sql, group.puts);
    return group.operations.map(() => null);
  }
  // pipelined; the connection answers in order
  return Promise.all(
    group.operations.map(async (operation) => JSON.parse(await read(sql, rules, group, operation)) as unknown),
  );
}

function read(sql: Sql | Transaction, rules: StoreRules, group: Group, operation: StoreOperation): Promise<string> {
  if (operation.op === "search") {
    const { namespace_prefix: prefix, filter, limit = 10, offset = 0 } = operation;
    const refresh = operation.refresh_ttl ?? rules.refreshOnRead;
    const search = { prefix, conditions: toConditions(filter), limit, offset, refresh };
    return searchItems(sql, search, group.likenesses.get(operation) ?? null);
  }
  if (operation.op !== "list") throw new Error(`unknown store operation ${operation.op}`);
  const { match_conditions = [], max_depth, limit, offset } = operation;
  return listNamespaces(sql, { conditions: match_conditions, maxDepth: max_depth ?? null, limit, offset });
}
