/** Request path in the form that rules compare. */
export interface CanonicalPath {
  /** Lower case, without doubled or trailing slashes. */
  full: string;
  /** Path without the prefixes of aliases: `/api`, then `/v1` or `/v2`. */
  bare: string;
  version: "v1" | "v2";
}

/**
 * Normalizes a path.
 * @param path as seen by the router, which determines the operation. Decoding or resolving further would count a
 * request as another operation: `/datasets/x%2F..%2F..%2Finfo` is not `/info`. Folding case and slashes, which the
 * router distinguishes, only counts requests without a route together with those that have one.
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
