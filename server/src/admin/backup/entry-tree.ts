import { posix } from "node:path";

import { sectionName } from "./manifest.ts";
import { ArchiveError, type TarEntry } from "./tar.ts";

/** Deepest path and longest path, in bytes, of files in an archive: they fit in any data directory's path. */
export const MOST_DEPTH = 128;
export const MOST_PATH_BYTES = 3072;
const MOST_SECTIONS = 100_000;

/** Entries of sections that are no trees of files. */
const SINGLE =
  /^(heddle-backup\.json|keys\/keys\.sealed|manifest\.json(\.sha256|\.mac)?|postgres\/[^/]+\/[^/]+\/\d{6,}\.gz)$/;
/** The deployment's part of a build, the only place for links. */
const BUILD_SOURCE = /^builds\/[^/]+\/src\//;

/**
 * Checks the entries of an archive in their order, which is that of a walk through sorted directories: an entry follows
 * its directory and the siblings before it. No path can therefore occur twice, lead through a link or out of its
 * section. A backup and a restore check with the same rules, before they say that the archive is good.
 */
export class EntryTree {
  readonly #sections = new Set<string>();
  #section: string | undefined;
  /** Open directories of the current section, and the last name in each. */
  #open: { name: string; last: string | undefined }[] = [];

  /** @returns the section, and the path in it. @throws ArchiveError */
  accept(entry: TarEntry, format: number): { section: string; path: string[] } {
    const section = sectionName(entry.name);
    if (section !== this.#section) this.#begin(section);
    const isSingle = SINGLE.test(entry.name);
    if (isSingle && entry.type !== "file") throw invalid(entry, "is not a file");
    const depth = section.split("/").length;
    const path = entry.name.split("/").slice(depth);
    if (!isSingle && !/^(blobs|control|traces\/\w+)$/.test(section)) throw invalid(entry, "is unknown");
    if (isSingle && path.length === 0) return { section, path };
    if (path.length === 0) throw invalid(entry, "has no name");
    if (path.length > MOST_DEPTH || Buffer.byteLength(entry.name) > MOST_PATH_BYTES)
      throw invalid(entry, "is too long");
    if (path.some((name) => name === "" || name === "." || name === ".." || name.includes("\0")))
      throw invalid(entry, "leads elsewhere");
    if (!isSingle) this.#place(entry, path);
    if (entry.type !== "link") return { section, path };
    // a restore leaves out the links of format 1
    if (section !== "control" || (format > 1 && leadsOut(path.join("/"), entry.target)))
      throw invalid(entry, `is a link to ${quote(entry.target)}, outside of what is restored`);
    return { section, path };
  }

  #begin(section: string): void {
    if (this.#sections.has(section)) throw new ArchiveError(`The archive holds the part ${quote(section)} twice.`);
    if (this.#sections.size === MOST_SECTIONS) throw new ArchiveError("The archive has too many parts.");
    this.#sections.add(section);
    this.#section = section;
    this.#open = [{ name: "", last: undefined }];
  }

  #place(entry: TarEntry, path: string[]): void {
    if (this.#open.length < path.length) throw invalid(entry, "is in no directory of the archive");
    this.#open.length = path.length;
    for (let depth = 1; depth < path.length; depth++) {
      if (this.#open[depth]!.name !== path[depth - 1]) throw invalid(entry, "is in no directory of the archive");
    }
    const name = path.at(-1)!;
    const parent = this.#open.at(-1)!;
    if (parent.last !== undefined && !(parent.last < name)) throw invalid(entry, "occurs twice or out of order");
    parent.last = name;
    if (entry.type === "directory") this.#open.push({ name, last: undefined });
  }
}

/** Whether a link in the control plane's directory is in none of a build's sources, or points out of it. */
export function leadsOut(path: string, target: string): boolean {
  const source = BUILD_SOURCE.exec(path)?.[0];
  if (source === undefined || target === "" || target.startsWith("/") || target.includes("\0")) return true;
  return !`${posix.join(posix.dirname(path), target)}/`.startsWith(source);
}

const invalid = ({ name }: TarEntry, problem: string): ArchiveError =>
  new ArchiveError(`The archive cannot be restored: its entry ${quote(name)} ${problem}.`);

const quote = (text: string): string => JSON.stringify(text.slice(0, 200));
