/**
 * The runs of a trace as a tree ordered by start time. Built once per server response; the visible part is a walk over
 * the expanded branches.
 */
export interface TreeRun {
  id: string;
  name: string;
  run_type: string;
  status: string;
  /** Milliseconds since 1970. */
  start: number;
  /** Null while it runs. */
  end: number | null;
  /** When the first token of a model's call arrived. */
  firstToken: number | null;
  tokens: number | null;
  /** US dollars. */
  cost: number | null;
  error: string | null;
  parentId: string | null;
}

export interface TraceNode extends TreeRun {
  depth: number;
  children: TraceNode[];
  /** Descendants at any depth. */
  size: number;
  /** Failed runs among the descendants. */
  failures: number;
}

export interface TraceTree {
  roots: TraceNode[];
  byId: Map<string, TraceNode>;
  /** Milliseconds since 1970: the earliest start and the latest known end. */
  start: number;
  end: number;
  isRunning: boolean;
}

/** Runs between two points where the work may be interrupted. */
const SLICE = 500;
/** Longest time in milliseconds for which the page is blocked. */
const PATIENCE = 12;

/** Builds the tree. A run whose parent has not arrived becomes a root. */
export function buildTree(runs: Iterable<TreeRun>): TraceTree {
  const work = plant(runs);
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** Builds the tree in slices, so that the page stays responsive while tens of thousands of runs are placed. */
export async function treeInSlices(runs: Iterable<TreeRun>, signal?: AbortSignal): Promise<TraceTree> {
  const work = plant(runs);
  let until = performance.now() + PATIENCE;
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    if (performance.now() < until) continue;
    await new Promise((go) => setTimeout(go));
    signal?.throwIfAborted();
    until = performance.now() + PATIENCE;
  }
}

function* plant(runs: Iterable<TreeRun>): Generator<void, TraceTree> {
  const byId = new Map<string, TraceNode>();
  let work = 0;
  for (const run of runs) {
    byId.set(run.id, { ...run, depth: 0, children: [], size: 0, failures: 0 });
    if (++work % SLICE === 0) yield;
  }
  const roots: TraceNode[] = [];
  let start = Number.POSITIVE_INFINITY;
  let end = Number.NEGATIVE_INFINITY;
  let isRunning = false;
  for (const node of byId.values()) {
    if (++work % SLICE === 0) yield;
    start = Math.min(start, node.start);
    end = Math.max(end, node.end ?? node.start);
    isRunning ||= node.status === "pending";
    const parent = node.parentId === null ? undefined : byId.get(node.parentId);
    if (parent && parent !== node) parent.children.push(node);
    else roots.push(node);
  }
  const inOrder = (a: TraceNode, b: TraceNode) => a.start - b.start || (a.id < b.id ? -1 : 1);
  roots.sort(inOrder);
  // without recursion: a trace may be as deep as it is long
  const down: TraceNode[] = [...roots].reverse();
  const visited: TraceNode[] = [];
  while (down.length > 0) {
    const node = down.pop()!;
    visited.push(node);
    if (++work % SLICE === 0) yield;
    if (node.children.length > 1) node.children.sort(inOrder);
    for (let at = node.children.length - 1; at >= 0; at--) {
      const child = node.children[at]!;
      child.depth = node.depth + 1;
      down.push(child);
    }
  }
  for (let at = visited.length - 1; at >= 0; at--) {
    const node = visited[at]!;
    if (++work % SLICE === 0) yield;
    for (const child of node.children) {
      node.size += child.size + 1;
      node.failures += child.failures + (child.status === "error" ? 1 : 0);
    }
  }
  if (byId.size === 0) return { roots, byId, start: 0, end: 0, isRunning };
  return { roots, byId, start, end, isRunning };
}

/** Returns the nodes from top to bottom, without those in collapsed branches. */
export function visibleNodes({ roots }: TraceTree, closed: ReadonlySet<string>): TraceNode[] {
  const found: TraceNode[] = [];
  const down = [...roots].reverse();
  while (down.length > 0) {
    const node = down.pop()!;
    found.push(node);
    if (closed.has(node.id)) continue;
    for (let at = node.children.length - 1; at >= 0; at--) down.push(node.children[at]!);
  }
  return found;
}

/** Shortest part of an id that is searched: shorter words are parts of many ids by chance. */
const ID_PART = 8;

/** Returns the runs whose name, type, status, error or, for long words, id contains the words. */
export function findMatches(tree: TraceTree, text: string): Set<string> {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = new Set<string>();
  if (words.length === 0) return found;
  for (const node of tree.byId.values()) {
    const { name, run_type, status, error, id } = node;
    const own = `${name} ${run_type} ${status} ${error ?? ""}`.toLowerCase();
    if (words.every((word) => own.includes(word) || (word.length >= ID_PART && id.includes(word)))) found.add(id);
  }
  return found;
}

/** Returns the branches above these, which must be expanded to show them. */
export function listAncestors({ byId }: TraceTree, ids: Iterable<string>): Set<string> {
  const found = new Set<string>();
  for (const id of ids) {
    let parent = byId.get(id)?.parentId;
    while (parent != null && !found.has(parent)) {
      found.add(parent);
      parent = byId.get(parent)?.parentId;
    }
  }
  return found;
}

/** Returns the initially collapsed branches: in a large trace all below the second level. */
export function initiallyCollapsed({ byId }: TraceTree, most = 2000): Set<string> {
  if (byId.size <= most) return new Set();
  return new Set([...byId.values()].filter(({ depth, size }) => depth >= 1 && size > 0).map(({ id }) => id));
}
