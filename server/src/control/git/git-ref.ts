/** Git reference of a deployment, as named in a request. */
export type GitRef =
  /** Resolved to the commit that the branch or tag names at the time. */
  | { kind: "branch" | "tag"; name: string; full: string }
  /** A commit by its full hash: our extension. */
  | { kind: "commit"; sha: string };

const HASH = /^([0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * Parses a branch by its bare name, a tag as `refs/tags/<tag>`, a commit as its full hash. Names must be valid for git
 * (git-check-ref-format), and must not begin with a dash, which a program could take for an option.
 * @returns null when invalid
 */
export function readGitRef(text: string): GitRef | null {
  if (HASH.test(text)) return { kind: "commit", sha: text };
  const tag = /^refs\/tags\/(.+)$/s.exec(text)?.[1];
  const name = tag ?? /^refs\/heads\/(.+)$/s.exec(text)?.[1] ?? text;
  if (!isRefName(name) || (tag === undefined && name === text && name.startsWith("refs/"))) return null;
  return tag === undefined
    ? { kind: "branch", name, full: `refs/heads/${name}` }
    : { kind: "tag", name, full: `refs/tags/${name}` };
}

function isRefName(name: string): boolean {
  // oxlint-disable-next-line no-control-regex -- these are what must not be there
  if (name.length > 250 || name === "@" || /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\.$|^-/.test(name)) return false;
  return name.split("/").every((part) => part !== "" && !part.startsWith(".") && !part.endsWith(".lock"));
}

/** Describes a reference for messages. */
export const describeRef = (ref: GitRef): string =>
  ref.kind === "commit" ? `the commit ${ref.sha}` : `the ${ref.kind} ${ref.name}`;
