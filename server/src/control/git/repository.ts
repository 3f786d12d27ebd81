import { isAbsolute, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { AppError } from "../../base/errors.ts";
import type { Outbound } from "../../base/outbound/outbound.ts";

/** Location of a repository. */
export type Repository = { kind: "remote"; url: URL } | { kind: "local"; path: string };

/**
 * Parses the URL of a repository: https, or http within a private network; a path or `file:` URL below the
 * directories of HEDDLE_GIT_LOCAL. Rejects any other syntax of git (`ext::`, ssh, options).
 * @throws AppError with the reason
 */
export function readRepository(text: string, outbound: Pick<Outbound, "check">, localRoots: string[]): Repository {
  const bad = (why: string) => new AppError(422, why);
  // oxlint-disable-next-line no-control-regex -- these are what must not be there
  if (/[\x00-\x20\x7f\\]/.test(text)) throw bad("must not contain spaces, backslashes or control characters");
  if (text.startsWith("/") || /^file:/i.test(text)) return { kind: "local", path: readPath(text, localRoots, bad) };
  if (/^(ssh:|git@|[^/:]+@[^/:]+:)/i.test(text)) throw bad("cannot be fetched over ssh; use the https:// URL");
  if (!/^https?:\/\/[^/]/i.test(text)) throw bad("must be the https:// URL of a Git repository");
  const url = outbound.check(text);
  if (url.search !== "" || url.hash !== "") throw bad("must not contain a query or a fragment");
  // a server may decode them to slashes, which makes it another path
  if (/%2f|%5c|%00/i.test(url.pathname)) throw bad("must not contain encoded slashes");
  if (url.pathname === "/") throw bad("must name a repository, not only its host");
  return { kind: "remote", url };
}

function readPath(text: string, roots: string[], bad: (why: string) => AppError): string {
  if (roots.length === 0) {
    throw bad("is on this machine: the operator must add its directory to HEDDLE_GIT_LOCAL");
  }
  let path = text;
  if (!text.startsWith("/")) {
    try {
      path = fileURLToPath(text);
    } catch {
      throw bad("is not a file: address on this machine");
    }
  }
  path = resolve(path);
  if (!isBelow(path, roots)) throw bad("is outside the directories in HEDDLE_GIT_LOCAL");
  return path;
}

export const isBelow = (path: string, roots: string[]): boolean =>
  roots.some((root) => {
    const relativePath = relative(root, path);
    return relativePath === "" || (!isAbsolute(relativePath) && relativePath.split("/")[0] !== "..");
  });

/** Strips trailing slashes and `.git` from a repository's path. */
const bare = (path: string): string => path.replace(/\/+$/, "").replace(/\.git$/i, "");

/**
 * Normalizes a URL for comparison: hosts serve a repository with and without `.git`, and host names are
 * case-insensitive.
 */
export function canonicalUrl(text: string): string {
  if (!URL.canParse(text)) return bare(text);
  const url = new URL(text);
  return `${url.host.toLowerCase()}${bare(url.pathname)}`;
}

/** Whether a token for `base` may be sent to the repository: same origin, and the same path or one below it. */
export function isOfHost(repository: URL, base: string): boolean {
  const host = new URL(base);
  const prefix = host.pathname.replace(/\/*$/, "/");
  const isIt = bare(repository.pathname) === bare(host.pathname);
  return repository.origin === host.origin && (isIt || repository.pathname.startsWith(prefix));
}
