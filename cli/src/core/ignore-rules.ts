/**
 * What of a project's folder is sent with a deployment, by `heddle deploy` and by the console, which packs it in the
 * browser: this file uses nothing of Node.
 *
 * Rules of .gitignore and .dockerignore files: both are lists of patterns of which the last match decides, but their
 * patterns differ. Git's match names at any depth unless they contain a slash, and belong to a directory; nothing below
 * an excluded directory can be re-included. Docker's match whole paths below the root, and re-include at any depth.
 * Case matters everywhere, so that the same files are found on each system.
 */
/** Names excluded at any depth, because no deployment needs them. */
const NEVER = new Set([
  "node_modules",
  ".git",
  ".heddle",
  ".langgraph_api",
  ".venv",
  "venv",
  "__pycache__",
  ".tox",
  ".mypy_cache",
  ".DS_Store",
]);

/**
 * Builds the test whether an entry of a project is left out, none of whose directories is: by its name, or by the
 * project's .gitignore files or its .dockerignore. Paths have slashes.
 *
 * @param read returns the text of a file of the project, "" when there is none
 */
export function ignoredBy(read: (path: string) => string): (path: string, isDirectory: boolean) => boolean {
  const docker = readDockerignore(read(".dockerignore"));
  const byBase = new Map<string, Rule[]>();
  const rulesOf = (base: string): Rule[] => {
    const known = byBase.get(base);
    if (known) return known;
    const rules = readGitignore(read(`${base}.gitignore`));
    byBase.set(base, rules);
    return rules;
  };
  // the last match decides, of the nearest file that has one
  const byGit = (path: string, isDirectory: boolean): boolean => {
    for (let end = path.lastIndexOf("/"); ; end = path.lastIndexOf("/", end - 1)) {
      const base = path.slice(0, end + 1);
      const answer = excludes(rulesOf(base), path.slice(base.length), isDirectory);
      if (answer !== undefined) return answer;
      if (end <= 0) return false;
    }
  };
  return (path, isDirectory) =>
    NEVER.has(path.slice(path.lastIndexOf("/") + 1)) ||
    byGit(path, isDirectory) ||
    // a negated rule of Docker also re-includes what is below an excluded directory
    (!isDirectory && excludes(docker, path, false) === true);
}

interface Rule {
  pattern: RegExp;
  /** Whether a match re-includes. */
  isNegated: boolean;
  /** Whether only directories match. */
  onlyDirectories: boolean;
  /** Whether the pattern matches the last name of a path, instead of the path. */
  byName: boolean;
}

/** Reads a .gitignore (gitignore(5)). Its rules match paths relative to its directory. */
function readGitignore(text: string): Rule[] {
  return lines(text).flatMap((line) => {
    // spaces at the end are ignored unless escaped
    let pattern = line.replace(/(\\.|[^ ]) +$/s, "$1").replace(/^ +$/, "");
    if (pattern.startsWith("#")) return [];
    const isNegated = pattern.startsWith("!");
    if (isNegated) pattern = pattern.slice(1);
    const onlyDirectories = pattern.endsWith("/");
    if (onlyDirectories) pattern = pattern.slice(0, -1);
    if (pattern === "") return [];
    const byName = !pattern.includes("/");
    const regExp = gitPattern(pattern.replace(/^\//, ""));
    return regExp ? [{ pattern: regExp, isNegated, onlyDirectories, byName }] : [];
  });
}

/** Reads a .dockerignore. Its rules match paths relative to the root, and what is below a match. */
function readDockerignore(text: string): Rule[] {
  return lines(text).flatMap((line) => {
    if (line.startsWith("#")) return [];
    const trimmed = line.trim();
    const isNegated = trimmed.startsWith("!");
    const path = trimmed.slice(isNegated ? 1 : 0).trim();
    if (path === "") return [];
    const regExp = dockerPattern(normalize(path));
    return [{ pattern: regExp, isNegated, onlyDirectories: false, byName: false }];
  });
}

/** Returns whether the last matching rule excludes a path, which has slashes; undefined when none matches. */
function excludes(rules: readonly Rule[], path: string, isDirectory: boolean): boolean | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const last = rules.findLast(
    ({ pattern, onlyDirectories, byName }) => (isDirectory || !onlyDirectories) && pattern.test(byName ? name : path),
  );
  return last && !last.isNegated;
}

/** Resolves `.` and `..` in a path below the root, as Go's path.Clean, and removes the slashes around it. */
function normalize(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else parts.push(part);
  }
  return parts.join("/") || (path.startsWith("/") ? "/" : ".");
}

const lines = (text: string): string[] => text.replace(/^\uFEFF/, "").split(/\r?\n/);

const quote = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

/** Translates a pattern of Git, as its wildmatch.c reads it; undefined when it is invalid, so that nothing matches. */
function gitPattern(pattern: string): RegExp | undefined {
  let source = "";
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]!;
    if (char === "\\") {
      if (++at === pattern.length) return undefined;
      source += quote(pattern[at]!);
    } else if (char === "?") {
      source += "[^/]";
    } else if (char === "*") {
      const start = at;
      while (pattern[at + 1] === "*") at++;
      const isWhole = (start === 0 || pattern[start - 1] === "/") && /^(?:\/|$)/.test(pattern.slice(at + 1));
      if (at === start || !isWhole) source += "[^/]*";
      else if (at + 1 === pattern.length) source += ".*";
      else {
        source += "(?:.*/)?";
        at++;
      }
    } else if (char === "[") {
      const found = characterClass(pattern, at);
      if (!found) return undefined;
      source += `(?!/)${found.source}`;
      at = found.end;
    } else source += quote(char);
  }
  return new RegExp(`^${source}$`, "s");
}

/** Sets of POSIX in ASCII, which Git's are. */
const SETS: Record<string, string> = {
  alnum: "a-zA-Z0-9",
  alpha: "a-zA-Z",
  blank: " \\t",
  cntrl: "\\x00-\\x1f\\x7f",
  digit: "0-9",
  graph: "\\x21-\\x7e",
  lower: "a-z",
  print: "\\x20-\\x7e",
  punct: "\\x21-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7e",
  space: "\\s",
  upper: "A-Z",
  xdigit: "0-9a-fA-F",
};

/** Reads the class that opens at `start`; `end` is its closing bracket. */
function characterClass(pattern: string, start: number): { source: string; end: number } | undefined {
  let at = start + 1;
  const isNegated = pattern[at] === "!" || pattern[at] === "^";
  if (isNegated) at++;
  let members = "";
  for (let isFirst = true; isFirst || pattern[at] !== "]"; isFirst = false) {
    const set = /^\[:([^\]]*):\]/.exec(pattern.slice(at));
    if (set) {
      if (SETS[set[1]!] === undefined) return undefined;
      members += SETS[set[1]!];
      at += set[0].length;
      continue;
    }
    const from = member(pattern, at);
    if (!from) return undefined;
    at = from.next;
    const isRange = pattern[at] === "-" && at + 1 < pattern.length && pattern[at + 1] !== "]";
    const to = isRange ? member(pattern, at + 1) : from;
    if (!to) return undefined;
    at = to.next;
    // a range that ends before it begins has its beginning only
    members += from.char < to.char ? `${quote(from.char)}-${quote(to.char)}` : quote(from.char);
  }
  return { source: `[${isNegated ? "^" : ""}${members}]`, end: at };
}

function member(pattern: string, at: number): { char: string; next: number } | undefined {
  const escaped = pattern[at] === "\\" ? 1 : 0;
  const char = pattern[at + escaped];
  return char === undefined ? undefined : { char, next: at + escaped + 1 };
}

/** Translates a pattern of Docker, as its patternmatcher reads it. @throws for an invalid one, as Docker does */
function dockerPattern(pattern: string): RegExp {
  let source = "";
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]!;
    if (char === "*" && pattern[at + 1] === "*") {
      at++;
      if (pattern[at + 1] === "/") at++;
      source += at + 1 === pattern.length ? ".*" : "(?:.*/)?";
    } else if (char === "*") source += "[^/]*";
    else if (char === "?") source += "[^/]";
    else if (char === "[") {
      const end = pattern.indexOf("]", at + 1);
      source += end > at + 1 ? pattern.slice(at, end + 1) : "\\[";
      at = Math.max(end, at);
    } else if (char === "\\" && at + 1 < pattern.length) source += quote(pattern[++at]!);
    else source += quote(char);
  }
  try {
    // what is below a matching directory matches too
    return new RegExp(`^(?:${source})(?:/.*)?$`, "s");
  } catch {
    throw new Error(`The pattern "${pattern}" in .dockerignore is invalid. Correct or remove it.`);
  }
}
