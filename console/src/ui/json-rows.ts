/**
 * A JSON value as the rows of a tree. Only expanded branches are walked, so the cost depends on the visible part, even
 * for megabytes. Very long lists and objects are shown in pages.
 */
export interface JsonRow {
  /** Unique id of the member: keys joined by U+001F. For a row that loads more: its owner's id, plus `…`. */
  id: string;
  depth: number;
  /** Name or index; null at the top. */
  key: string | null;
  kind: "object" | "array" | "string" | "number" | "boolean" | "null" | "more";
  value: unknown;
  /** Number of members of an object or array; for `more`: members that are not shown yet. */
  size: number;
  isOpen: boolean;
}

const SEPARATOR = "\u001f";
/** Number of members of an object or list that are shown initially. */
export const PAGE = 1000;

export interface ExpandedBranches {
  open: ReadonlySet<string>;
  /** Number of shown members per branch, where more than a page was requested. */
  shown: ReadonlyMap<string, number>;
}

export function visibleRows(value: unknown, { open, shown }: ExpandedBranches): JsonRow[] {
  const rows: JsonRow[] = [];
  const walk = (id: string, key: string | null, node: unknown, depth: number): void => {
    const kind = valueKind(node);
    if (kind !== "object" && kind !== "array") {
      rows.push({ id, depth, key, kind, value: node, size: 0, isOpen: false });
      return;
    }
    const isList = Array.isArray(node);
    const keys = isList ? null : Object.keys(node as object);
    const size = isList ? node.length : keys!.length;
    const isOpen = open.has(id) && size > 0;
    rows.push({ id, depth, key, kind, value: node, size, isOpen });
    if (!isOpen) return;
    const end = Math.min(size, shown.get(id) ?? PAGE);
    for (let at = 0; at < end; at++) {
      const name = keys ? keys[at]! : String(at);
      const member = isList ? (node as unknown[])[at] : (node as Record<string, unknown>)[name];
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

/** Returns the initially expanded branches: level by level, up to `budget` rows. */
export function initiallyExpanded(value: unknown, budget = 60, maxDepth = 6): Set<string> {
  const open = new Set<string>();
  let level: [string, unknown][] = [["", value]];
  let rows = 1;
  for (let depth = 0; depth < maxDepth && level.length > 0; depth++) {
    const next: [string, unknown][] = [];
    for (const [id, node] of level) {
      if (node === null || typeof node !== "object") continue;
      const entries = Array.isArray(node)
        ? node.slice(0, PAGE).map((item, at): [string, unknown] => [String(at), item])
        : Object.entries(node).slice(0, PAGE);
      if (entries.length === 0 || (depth > 0 && rows + entries.length > budget)) continue;
      rows += entries.length;
      open.add(id);
      for (const [name, item] of entries) next.push([id === "" ? name : id + SEPARATOR + name, item]);
    }
    level = next;
  }
  return open;
}

/** Returns every branch, or as many as yield `limit` rows. */
export const allExpanded = (value: unknown, limit = 20_000): Set<string> => initiallyExpanded(value, limit, 200);

function valueKind(value: unknown): Exclude<JsonRow["kind"], "more"> {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  const type = typeof value;
  return type === "object" || type === "string" || type === "number" || type === "boolean" ? type : "string";
}
