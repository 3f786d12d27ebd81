/** A request's path as the rules compare it. */
export interface CanonicalPath {
  /** In lower case, without doubled or trailing slashes. */
  full: string;
  /** Without what only tells aliases apart: `/api`, then `/v1` or `/v2` (contract §0.1). */
  bare: string;
  version: "v1" | "v2";
}

/**
 * @param path as the router sees it, which is what decides what is done. Decoding or resolving further than it does
 * would let a request be counted as something else: `/datasets/x%2F..%2F..%2Finfo` is no `/info`. Folding what the
 * router keeps apart (case, slashes) only counts requests that no route answers with those that one does.
 */
export function canonicalPath(path: string): CanonicalPath {
  let full = path.toLowerCase();
  if (full.includes("//")) full = full.replace(/\/{2,}/g, "/");
  if (full.length > 1 && full.endsWith("/")) full = full.slice(0, -1);
  let bare = withoutSegment(full, "/api");
  let version: "v1" | "v2" = "v1";
  const unversioned = withoutSegment(bare, "/v2");
  if (unversioned !== bare) {
    version = "v2";
    bare = unversioned;
  } else bare = withoutSegment(bare, "/v1");
  return { full, bare, version };
}

function withoutSegment(path: string, segment: string): string {
  if (!path.startsWith(segment)) return path;
  if (path.length === segment.length) return "/";
  return path.charCodeAt(segment.length) === SLASH ? path.slice(segment.length) : path;
}

const SLASH = 47;
