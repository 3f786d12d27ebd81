import type { CanonicalPath } from "./canonical-path.ts";

/** Condition of a rule; without a method it applies to all. */
export type Pattern =
  | { kind: "any"; method: string; path?: undefined }
  | { kind: "exact" | "uuid" | "prefix" | "suffix" | "containing"; method?: string; path: string };

/** Precedence, higher is more specific; see the head of `table.ts`. `exact` and `uuid` never match the same path. */
const SPECIFICITY: Record<Pattern["kind"], number> = {
  any: 5,
  exact: 4,
  uuid: 4,
  prefix: 3,
  suffix: 2,
  containing: 1,
};

export const specificity = ({ kind }: Pattern): number => SPECIFICITY[kind];

/** Returns true if a request matches. @param method as routed: HEAD is GET */
export function matches(pattern: Pattern, method: string, { full, bare }: CanonicalPath): boolean {
  if (pattern.method !== undefined && pattern.method !== method) return false;
  const { path } = pattern;
  switch (pattern.kind) {
    case "any":
      return true;
    case "exact":
      return bare === path;
    case "uuid":
      return bare.startsWith(`${path}/`) && UUID.test(bare.slice(pattern.path.length + 1));
    case "prefix":
      return (
        bare.startsWith(pattern.path) && (bare.length === pattern.path.length || bare[pattern.path.length] === "/")
      );
    case "suffix":
      // a suffix may begin with a segment that the canonical form lacks, as in */v1/metadata/submit
      return full.endsWith(pattern.path) || pattern.path === `/v1${bare}`;
    case "containing":
      return bare.includes(pattern.path);
  }
}

/** UUIDs; 32 digits without dashes identify a run as well. */
const UUID = /^[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}$/;
