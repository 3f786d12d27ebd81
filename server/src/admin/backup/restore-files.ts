import { constants } from "node:fs";
import { mkdir, open, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { type Link, makeLinks } from "../../control/builds/make-links.ts";
import type { EntryContent, PlacedEntry } from "./archive-reader.ts";
import { ArchiveError } from "./tar.ts";

/** Links of a build, which are in memory until all of its files are there. */
const MOST_LINKS = 100_000;

/**
 * Writes the files of an archive below one directory for each kind. Only paths that `EntryTree` has accepted arrive
 * here; all are created, never replaced, and belong to this process's user alone: owners and permissions of an archive
 * are those of another machine.
 */
export class FileRestorer {
  readonly #directories: Record<"blobs" | "control" | "traces", string>;
  readonly #begun = new Set<string>();
  /** Links in the source of the current build. */
  #links: { source: string; links: Link[] } | undefined;

  constructor(directories: Record<"blobs" | "control" | "traces", string>) {
    this.#directories = directories;
  }

  /** `table`: of traces, whose files have a directory for each. */
  async restore(
    space: "blobs" | "control" | "traces",
    table: string,
    { type, path, target, mode, mtime }: PlacedEntry,
    content: EntryContent,
  ): Promise<void> {
    const root = join(this.#directories[space], table);
    if (!this.#begun.has(root)) await mkdir(root, { recursive: true, mode: 0o700 });
    this.#begun.add(root);
    const file = join(root, ...path);
    if (type === "directory") await mkdir(file, { mode: 0o700 });
    else if (type === "link") await this.#addLink(root, path, target);
    else {
      const handle = await open(
        file,
        constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
        (mode & 0o100) | 0o600,
      );
      try {
        await writeFile(handle, content.chunks());
        await handle.utimes(mtime, mtime);
        await handle.sync();
      } finally {
        await handle.close();
      }
    }
  }

  async #addLink(root: string, [builds = "", id = "", src = "", ...rest]: string[], target: string): Promise<void> {
    const source = join(root, builds, id, src);
    if (this.#links?.source !== source) await this.finish();
    const { links } = (this.#links ??= { source, links: [] });
    if (links.length === MOST_LINKS) throw new ArchiveError(`The build ${id} has more than ${MOST_LINKS} links.`);
    links.push({ path: rest.join("/"), target });
  }

  /** Creates the links that are left, when all files are there. */
  async finish(): Promise<void> {
    const { source, links } = this.#links ?? {};
    this.#links = undefined;
    if (source !== undefined) await makeLinks(source, links!);
  }
}
