/**
 * A thread's history as the supersteps of `POST /threads`, the API's way to copy a thread: each checkpoint follows from
 * the writes of its parent's tasks, which the reducers of the target's graph apply again.
 */
import { isSame } from "./copy.ts";

export interface Task {
  id: string;
  name: string;
  error?: unknown;
  interrupts?: unknown[];
  result?: unknown;
  checkpoint?: unknown;
}

export interface Checkpoint {
  values: unknown;
  next: string[];
  tasks: Task[];
  metadata?: { source?: string; step?: number; writes?: unknown } | null;
  checkpoint?: { checkpoint_id?: string } | null;
  checkpoint_id?: string | null;
  parent_checkpoint?: { checkpoint_id?: string } | null;
  parent_checkpoint_id?: string | null;
}

export interface Update {
  values?: unknown;
  command?: { update: unknown; goto: string[] };
  as_node: string;
}

export interface Superstep {
  updates: Update[];
}

const idOf = (state: Checkpoint) => state.checkpoint?.checkpoint_id ?? state.checkpoint_id ?? undefined;
const parentOf = (state: Checkpoint) =>
  state.parent_checkpoint?.checkpoint_id ?? state.parent_checkpoint_id ?? undefined;

/**
 * Returns the ancestors of the newest checkpoint with itself, oldest first.
 * @param history newest first
 */
export function lineage(history: readonly Checkpoint[]): Checkpoint[] {
  const known = new Map(history.map((state) => [idOf(state), state]));
  const chain: Checkpoint[] = [];
  for (let state = history[0]; state && !chain.includes(state); state = known.get(parentOf(state))) chain.push(state);
  return chain.reverse();
}

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  value !== null && typeof value === "object" && !Array.isArray(value);

const isMessage = (value: unknown): value is Fields =>
  isFields(value) && typeof value["type"] === "string" && "content" in value;

/**
 * @param chain oldest first
 * @param routed indexes of checkpoints whose next nodes must be named: a node chose them by a command
 */
export function toSupersteps(chain: readonly Checkpoint[], routed: ReadonlySet<number> = new Set()): Superstep[] {
  return chain.map((state, index) => {
    const updates = toUpdates(state, chain[index - 1], chain[index + 1]);
    const [first, ...rest] = updates;
    if (!routed.has(index) || !first || first.as_node === "__input__") return { updates };
    const { values, as_node } = first;
    return {
      updates: [{ values: null, command: { update: values, goto: [...new Set(state.next)] }, as_node }, ...rest],
    };
  });
}

function toUpdates(state: Checkpoint, parent: Checkpoint | undefined, child: Checkpoint | undefined): Update[] {
  const source = state.metadata?.source;
  if (source === "input") {
    const start = state.tasks.find(({ name }) => name === "__start__");
    const input = start?.result ?? (child ? changes(child.values, state.values) : state.values);
    return [{ values: withIds(input, child ?? state, state), as_node: "__input__" }];
  }
  // the parent was pruned
  if (!parent) return [{ values: state.values, as_node: "__start__" }];
  const done = source === "loop" ? parent.tasks : parent.tasks.filter(({ result }) => isResult(result));
  const byTasks = done.map(({ name, result }) => ({ values: result ?? null, as_node: name }));
  const updates = source === "loop" ? byTasks : (writesOf(state) ?? byTasks);
  if (updates.length > 0)
    return updates.map((update) => ({ ...update, values: withIds(update.values, state, parent) }));
  // an update from outside, of which only the effect is known
  const changed = changes(state.values, parent.values);
  return [{ values: changed, as_node: parent.tasks[0]?.name ?? lastNode(parent) }];
}

const isResult = (result: unknown) => result !== null && result !== undefined;

const lastNode = (state: Checkpoint): string => {
  const writes = state.metadata?.writes;
  return (isFields(writes) && Object.keys(writes).at(-1)) || "__start__";
};

/** Writes by node, which older servers have in the metadata. */
function writesOf({ metadata }: Checkpoint): Update[] | undefined {
  const writes = metadata?.writes;
  if (!isFields(writes) || Object.keys(writes).length === 0) return undefined;
  return Object.entries(writes).map(([as_node, values]) => ({ values, as_node }));
}

/** The values that differ; of messages, those that were added, changed or removed. */
function changes(values: unknown, before: unknown): unknown {
  if (!isFields(values)) return values;
  const earlier = isFields(before) ? before : {};
  const changed = Object.entries(values).filter(([key, value]) => !isSame(value, earlier[key]));
  return Object.fromEntries(changed.map(([key, value]) => [key, changedMessages(value, earlier[key])]));
}

function changedMessages(value: unknown, before: unknown): unknown {
  if (!Array.isArray(value) || !Array.isArray(before) || ![...value, ...before].every(isMessage)) return value;
  const ids = new Set(value.map((message: Fields) => message["id"]));
  const removed = before.filter((message: Fields) => !ids.has(message["id"]));
  return [
    ...removed.map((message: Fields) => ({ type: "remove", id: message["id"], content: "" })),
    ...value.filter((message) => !before.some((other) => isSame(message, other))),
  ];
}

/** Gives messages of an update, in whatever form the node returned them, the ids that the reducer gave them. */
function withIds(update: unknown, after: Checkpoint, before: Checkpoint): unknown {
  if (!isFields(update) || !isFields(after.values)) return update;
  const earlier = isFields(before.values) ? before.values : {};
  const entries = Object.entries(update).map(([key, value]) => {
    const list = (after.values as Fields)[key];
    if (value === null || !Array.isArray(list) || !list.every(isMessage)) return [key, value];
    const given = Array.isArray(value) ? value : [value];
    const known = new Set([earlier[key], given].flat().map(idIn));
    const added = list.filter((message) => !known.has(message["id"]));
    const isWhole = given.filter((message) => !idIn(message)).length === added.length;
    const named = given.map((message: unknown) => {
      if (idIn(message)) return message;
      // of parallel nodes, each added some
      const at = isWhole
        ? 0
        : added.findIndex((each) => isFields(message) && isSame(each["content"], message["content"]));
      return at < 0 ? message : (added.splice(at, 1)[0] ?? message);
    });
    return [key, named.map(withoutEmpty)];
  });
  return Object.fromEntries(entries) as Fields;
}

/** Drops fields of a message that say nothing: Python would keep them among the `additional_kwargs`. */
function withoutEmpty(message: unknown): unknown {
  if (!isMessage(message)) return message;
  const isEmpty = (value: unknown) => value === null || (Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(message).filter(([key, value]) => key === "content" || !isEmpty(value)));
}

const idIn = (message: unknown): unknown => (isFields(message) ? message["id"] || undefined : undefined);

/** A checkpoint of the copy that differs from the source's. */
export interface Difference {
  index: number;
  /** `next`, or the names of the values. */
  what: string;
}

/** Compares two chains, as far as both go. */
export function compareChains(source: readonly Checkpoint[], copied: readonly Checkpoint[]): Difference[] {
  return source.slice(0, copied.length).flatMap((state, index) => {
    const other = copied[index]!;
    const found: Difference[] = [];
    const names = differingKeys(state.values, other.values);
    if (names.length > 0) found.push({ index, what: `values (${names.join(", ")})` });
    if (!isSame(state.next.toSorted(), other.next.toSorted())) found.push({ index, what: "next" });
    return found;
  });
}

function differingKeys(a: unknown, b: unknown): string[] {
  if (!isFields(a) || !isFields(b)) return isSame(a, b) ? [] : ["all"];
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((key) => !isSame(a[key], b[key]));
}
