/**
 * A JSON value as the rows of a tree, of which only the open branches are walked, so that megabytes cost what is
 * shown of them. Lists and objects of very many members are shown in pages.
 */
export interface JsonRow {
  /** Of the member, unique in the tree: keys joined by U+001F. Of a row that asks for more: its owner's, plus `…`. */
  id: string;
  depth: number;
  /** Name or index; null at the top. */
  key: string | null;
  kind: "object" | "array" | "string" | "number" | "boolean" | "null" | "more";
  value: unknown;
  /** Members of an object or array; of `more`: those that are not shown yet. */
  size: number;
  isOpen: boolean;
}

const SEPARATOR = "\u001f";
/** Members of one object or list that are shown before somebody asks for more. */
export const PAGE = 1000;

export interface OpenBranches {
  open: ReadonlySet<string>;
  /** How many members of a branch are shown, where more than a page was asked for. */
  shown: ReadonlyMap<string, number>;
}

export function rowsOf(value: unknown, { open, shown }: OpenBranches): JsonRow[] {
  const rows: JsonRow[] = [];
  const walk = (id: string, key: string | null, one: unknown, depth: number): void => {
    const kind = kindOf(one);
    if (kind !== "object" && kind !== "array") {
      rows.push({ id, depth, key, kind, value: one, size: 0, isOpen: false });
      return;
    }
    const isList = Array.isArray(one);
    const keys = isList ? null : Object.keys(one as object);
    const size = isList ? one.length : keys!.length;
    const isOpen = open.has(id) && size > 0;
    rows.push({ id, depth, key, kind, value: one, size, isOpen });
    if (!isOpen) return;
    const end = Math.min(size, shown.get(id) ?? PAGE);
    for (let at = 0; at < end; at++) {
      const name = keys ? keys[at]! : String(at);
      const member = isList ? (one as unknown[])[at] : (one as Record<string, unknown>)[name];
      walk(id === "" ? name : id + SEPARATOR + name, name, member, depth + 1);
    }
    if (end < size) {
      const left = { kind: "more" as const, value: null, size: size - end, isOpen: false };
      rows.push({ id: `${id}${SEPARATOR}…`, depth: depth + 1, key: id, ...left });
    }
  };
  walk("", null, value, 0);
  return rows;
}

/** Branches to open at first: level by level, while no more than `budget` rows come of it. */
export function firstOpen(value: unknown, budget = 60, maxDepth = 6): Set<string> {
  const open = new Set<string>();
  let level: [string, unknown][] = [["", value]];
  let rows = 1;
  for (let depth = 0; depth < maxDepth && level.length > 0; depth++) {
    const next: [string, unknown][] = [];
    for (const [id, one] of level) {
      if (one === null || typeof one !== "object") continue;
      const entries = Array.isArray(one)
        ? one.slice(0, PAGE).map((item, at): [string, unknown] => [String(at), item])
        : Object.entries(one).slice(0, PAGE);
      if (entries.length === 0 || (depth > 0 && rows + entries.length > budget)) continue;
      rows += entries.length;
      open.add(id);
      for (const [name, item] of entries) next.push([id === "" ? name : id + SEPARATOR + name, item]);
    }
    level = next;
  }
  return open;
}

/** Every branch, or as many as make `limit` rows. */
export const allOpen = (value: unknown, limit = 20_000): Set<string> => firstOpen(value, limit, 200);

export function kindOf(value: unknown): Exclude<JsonRow["kind"], "more"> {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  const type = typeof value;
  return type === "object" || type === "string" || type === "number" || type === "boolean" ? type : "string";
}
