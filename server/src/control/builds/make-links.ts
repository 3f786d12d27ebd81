import { mkdir, realpath, rm, symlink } from "node:fs/promises";
import { dirname, join, posix, sep } from "node:path";

import { BuildError } from "../drivers/driver.ts";

export interface Link {
  /** Below the directory. */
  path: string;
  target: string;
}

/**
 * Makes an archive's symbolic links when all of its files are there, so that nothing is ever written through one.
 * Where a link leads is asked of the file system, because `a/../..` is another place when `a` is a link itself. One
 * that leads out ends the build; one that leads nowhere is left out, lest it lead somewhere later.
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
      throw new BuildError(`The archive writes through a link: ${quote(path)}.`);
    const file = join(directory, path);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await symlink(target, file);
  }
  for (const { path, target } of links) {
    const file = join(directory, path);
    const place = await realpath(file).catch(() => null);
    if (place === null) await rm(file, { force: true });
    else if (place !== root && !place.startsWith(root + sep)) throw leadsOut(path, target);
  }
}

/** By its letters alone: also of one that leads nowhere yet. */
const goesUp = (path: string, target: string): boolean => posix.join(dirname(path), target).split("/")[0] === "..";

const leadsOut = (path: string, target: string): BuildError =>
  new BuildError(`The link ${quote(path)} leads out of the project, to ${quote(target)}.`);

const quote = (path: string): string => JSON.stringify(path.slice(0, 200));
