import { mkdir, realpath, rm, symlink } from "node:fs/promises";
import { dirname, join, posix, sep } from "node:path";

import { BuildError } from "./build-error.ts";

export interface Link {
  /** Relative to the directory. */
  path: string;
  target: string;
}

/**
 * Creates an archive's symbolic links after all of its files, so that nothing is ever written through one. Targets are
 * resolved by the file system, because `a/../..` is another place when `a` is a link itself. A link that leads out
 * fails the build; a dangling one is dropped, because its target may exist later.
 * @throws BuildError
 */
export async function makeLinks(directory: string, links: Link[]): Promise<void> {
  const root = await realpath(directory);
  const paths = new Set(links.map((link) => link.path));
  for (const { path, target } of links) {
    if (target === "" || target.startsWith("/") || target.includes("\0") || goesUp(path, target))
      throw leadsOut(path, target);
    const parents = path.split("/").map((_, depth, parts) => parts.slice(0, depth).join("/"));
    if (parents.some((parent) => paths.has(parent)))
      throw new BuildError(`The archive contains a path that goes through a link: ${quote(path)}.`);
    const file = join(directory, path);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await symlink(target, file);
  }
  for (const { path, target } of links) {
    const file = join(directory, path);
    const resolved = await realpath(file).catch(() => null);
    if (resolved === null) await rm(file, { force: true });
    else if (resolved !== root && !resolved.startsWith(root + sep)) throw leadsOut(path, target);
  }
}

/** Whether the link leads upwards lexically; also valid for a dangling one. */
const goesUp = (path: string, target: string): boolean => posix.join(dirname(path), target).split("/")[0] === "..";

const leadsOut = (path: string, target: string): BuildError =>
  new BuildError(`The link ${quote(path)} points outside the project, to ${quote(target)}.`);

const quote = (path: string): string => JSON.stringify(path.slice(0, 200));
