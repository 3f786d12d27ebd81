/** What a deployment is built of, as a request names it (service-interface §2.1, contract control-plane §2.3). */
export type GitRef =
  /** Whatever the branch or tag names at the time. */
  | { kind: "branch" | "tag"; name: string; full: string }
  /** A commit by its whole hash: our extension. */
  | { kind: "commit"; sha: string };

const HASH = /^([0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * A branch by its bare name, a tag as `refs/tags/<tag>`, a commit as its whole hash. Names are those that git allows
 * (git-check-ref-format), and none that begins with a dash, which a program could take for an option.
 * @returns null for what is none of these
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

/** As people read it. */
export const describeRef = (ref: GitRef): string =>
  ref.kind === "commit" ? `the commit ${ref.sha}` : `the ${ref.kind} ${ref.name}`;
