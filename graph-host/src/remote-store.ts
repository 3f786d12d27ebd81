import { BaseStore, type Item, type Operation, type OperationResults } from "@langchain/langgraph-checkpoint";
import type { StoreOperation } from "../../host-kit/src/host-protocol.ts";
import { toJson } from "./serialize.ts";

type WireItem = Omit<Item, "createdAt" | "updatedAt"> & { created_at: string; updated_at: string; score?: number };

/** LangGraph's store, held by the server: a batch is one round trip. */
export class RemoteStore extends BaseStore {
  #call: (operations: string) => Promise<unknown[]>;

  constructor(call: (operations: string) => Promise<unknown[]>) {
    super();
    this.#call = call;
  }

  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const results = await this.#call(toJson(operations.map(toWire)));
    return operations.map((operation, i) => fromWire(operation, results[i])) as OperationResults<Op>;
  }
}

function toWire(operation: Operation): StoreOperation {
  if ("namespacePrefix" in operation) {
    const { namespacePrefix, filter, limit, offset, query } = operation;
    return { op: "search", namespace_prefix: namespacePrefix, filter, limit, offset, query };
  }
  if ("value" in operation) {
    const { namespace, key, value, index } = operation;
    return { op: "put", namespace, key, value, index };
  }
  if ("key" in operation) return { op: "get", namespace: operation.namespace, key: operation.key };
  const { matchConditions, maxDepth, limit, offset } = operation;
  const match_conditions = matchConditions?.map(({ matchType, path }) => ({ match_type: matchType, path }));
  return { op: "list", match_conditions, max_depth: maxDepth, limit, offset };
}

function fromWire(operation: Operation, result: unknown): unknown {
  if ("namespacePrefix" in operation) return (result as WireItem[]).map(toItem);
  if ("value" in operation) return undefined;
  if ("key" in operation) return result ? toItem(result as WireItem) : null;
  return result;
}

function toItem({ created_at, updated_at, ...item }: WireItem): Item {
  return { ...item, createdAt: new Date(created_at), updatedAt: new Date(updated_at) };
}
