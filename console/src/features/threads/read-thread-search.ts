export const STATUSES = ["idle", "busy", "interrupted", "error"] as const;
export const SORTS = ["updated_at", "created_at", "status"] as const;
export const TABS = ["state", "runs", "history", "compare", "feedback"] as const;

export interface ThreadListSearch {
  status?: (typeof STATUSES)[number];
  assistant?: string;
  /** Metadata filter as `key=value`. */
  meta?: string;
  id?: string;
  sort?: (typeof SORTS)[number];
  order?: "asc" | "desc";
  /** From 1. */
  page?: number;
}

export interface ThreadSearch {
  tab?: (typeof TABS)[number];
  checkpoint?: string;
  /** The other checkpoint to compare with. */
  with?: string;
  /** Id of the thread to compare with. */
  against?: string;
}

const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);
const pickAllowed = <T extends string>(all: readonly T[], value: unknown) =>
  all.find((candidate) => candidate === value);
const omitUndefined = <T extends object>(fields: T): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;

export function readThreadListSearch(search: Record<string, unknown>): ThreadListSearch {
  const page = Number(search["page"]);
  return omitUndefined({
    status: pickAllowed(STATUSES, search["status"]),
    assistant: text(search["assistant"]),
    meta: text(search["meta"]),
    // the router parses text that looks like a number
    id: text(search["id"]) ?? (typeof search["id"] === "number" ? String(search["id"]) : undefined),
    sort: pickAllowed(SORTS, search["sort"]),
    order: pickAllowed(["asc", "desc"] as const, search["order"]),
    page: Number.isSafeInteger(page) && page > 1 ? page : undefined,
  });
}

export function readThreadSearch(search: Record<string, unknown>): ThreadSearch {
  const checkpoint = text(search["checkpoint"]);
  return omitUndefined({
    tab: pickAllowed(TABS, search["tab"]) ?? (checkpoint === undefined ? undefined : "history"),
    checkpoint,
    with: text(search["with"]),
    against: text(search["against"]),
  });
}

/** Parses `key=value` as a filter; JSON values are parsed. Null for other text. */
export function readMetadata(meta: string | undefined): Record<string, unknown> | null {
  const at = meta?.indexOf("=") ?? -1;
  if (meta === undefined || at < 1) return null;
  const [key, value] = [meta.slice(0, at).trim(), meta.slice(at + 1).trim()];
  try {
    return { [key]: JSON.parse(value) as unknown };
  } catch {
    return { [key]: value };
  }
}

export const isUuid = (value: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value.trim());
