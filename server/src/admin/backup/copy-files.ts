import type { BigIntStats } from "node:fs";
import { constants, existsSync } from "node:fs";
import { type FileHandle, link, lstat, mkdir, open, readdir, readlink, rm } from "node:fs/promises";
import { join } from "node:path";

import type { ArchiveWriter } from "./archive-writer.ts";
import { MOST_DEPTH, MOST_PATH_BYTES } from "./entry-tree.ts";

const CHUNK = 1024 * 1024;
/** Whether files can be opened by the handle of their directory, whatever takes the place of its path. */
const HAS_HANDLES = existsSync("/proc/self/fd");

const NOT_TEXT = "their names are not UTF-8";
/** Characters of a path that a message shows. */
const SHOWN = 200;

interface FileCounts {
  files: number;
  bytes: number;
  /** Number of paths that were not copied, or not as they were, by the reason, with one of them. */
  problems: Map<string, { paths: number; example: string }>;
}

export interface CopyOptions {
  /** Whether a path below the directory is not part of the copy. */
  leavesOut?: (path: string) => boolean;
  /** Whether a link belongs to the copy; none does by default. */
  keepsLink?: (path: string, target: string) => boolean;
  /** Whether programs that are not trusted may have written below the path, and can go on writing. */
  isForeign?: (path: string) => boolean;
  /** For tests: called between the look at a path and its opening. */
  beforeOpen?: (path: string) => void;
}

/**
 * Yields a directory with all it contains as entries below `name`. What is opened is what was looked at: nothing follows
 * a link, not even one that replaces a file or directory at that moment.
 */
export async function* copyFiles(
  archive: ArchiveWriter,
  directory: string,
  name: string,
  options: CopyOptions = {},
): AsyncGenerator<Buffer, FileCounts> {
  const counts: FileCounts = { files: 0, bytes: 0, problems: new Map() };
  const note = (path: string, reason: string) => {
    const known = counts.problems.get(reason);
    if (known) known.paths++;
    else counts.problems.set(reason, { paths: 1, example: `${name}/${path}`.slice(0, SHOWN) });
  };
  const root = await open(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    yield* walk(root, directory, "");
  } finally {
    await root.close();
  }
  return counts;

  async function* walk(handle: FileHandle, shown: string, path: string): AsyncGenerator<Buffer> {
    const place = HAS_HANDLES ? `/proc/self/fd/${handle.fd}` : shown;
    const { uid } = await handle.stat();
    let previous: string | undefined;
    for (const child of (await readdir(place)).sort()) {
      const below = path === "" ? child : `${path}/${child}`;
      if (options.leavesOut?.(below)) continue;
      // names that are not text may have the same text as another
      if (child === previous) {
        note(below, NOT_TEXT);
        continue;
      }
      previous = child;
      const source = `${place}/${child}`;
      const seen = await lstat(source, { bigint: true }).catch(absent);
      if (!seen) {
        // a name that is not text has other bytes than its text
        if (child.includes("\ufffd")) note(below, NOT_TEXT);
        continue;
      }
      if (below.split("/").length > MOST_DEPTH || Buffer.byteLength(`${name}/${below}`) > MOST_PATH_BYTES) {
        note(below, "their paths are too long");
        continue;
      }
      const entry = {
        name: `${name}/${below}`,
        mode: Number(seen.mode),
        uid: Number(seen.uid),
        gid: Number(seen.gid),
        mtime: Number(seen.mtimeNs / 1_000_000_000n),
        target: "",
      };
      if (seen.isSymbolicLink()) {
        const target = await readlink(source).catch(absent);
        if (target === undefined) continue;
        if (!options.keepsLink?.(below, target)) note(below, "they are links");
        else yield* archive.empty({ ...entry, type: "link", target });
        continue;
      }
      if (!seen.isFile() && !seen.isDirectory()) {
        note(below, "they are neither files nor directories");
        continue;
      }
      // a hard link is all that is needed to name another user's file
      if (seen.isFile() && seen.nlink > 1n && options.isForeign?.(below) && Number(seen.uid) !== uid) {
        note(below, "they are links to files of other users");
        continue;
      }
      options.beforeOpen?.(below);
      const opened = await openSeen(source, join(shown, child), seen);
      if (opened === "gone") continue;
      if (opened === "replaced") {
        note(below, "they were replaced at that moment");
        continue;
      }
      try {
        if (seen.isDirectory()) {
          yield* archive.empty({ ...entry, type: "directory" });
          yield* walk(opened, join(shown, child), below);
        } else {
          const size = Number((await opened.stat()).size);
          const missing = yield* archive.stream({ ...entry, type: "file", size }, readFrom(opened, size));
          if (missing > 0) note(below, "they became shorter, and end in zeros");
          counts.files++;
          counts.bytes += size;
        }
      } finally {
        await opened.close();
      }
    }
  }
}

/** Opens the file or directory that was seen, and nothing that has taken its place. */
async function openSeen(source: string, shown: string, seen: BigIntStats): Promise<FileHandle | "gone" | "replaced"> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY } = constants;
  const kind = seen.isDirectory() ? O_DIRECTORY : 0;
  let handle: FileHandle;
  try {
    handle = await open(source, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | kind);
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return "gone";
    // a link, a file where a directory was, a socket
    if (["ELOOP", "ENOTDIR", "ENXIO", "EMLINK"].includes(code)) return "replaced";
    if (code !== "EACCES" && code !== "EPERM") throw error;
    throw new Error(
      `This user may not read ${shown} (${message.split(",", 1)[0]}). Run the backup as the user that runs the ` +
        "platform, or as root.",
      { cause: error },
    );
  }
  const found = await handle.stat({ bigint: true });
  if (found.dev === seen.dev && found.ino === seen.ino) return handle;
  await handle.close();
  return "replaced";
}

/** @returns the path of the first link below a directory that `matches`; undefined when there is none */
export async function findLink(
  directory: string,
  matches: (path: string, target: string) => boolean,
): Promise<string | undefined> {
  return look(await open(directory, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW), directory, "");

  async function look(handle: FileHandle, shown: string, path: string): Promise<string | undefined> {
    try {
      const place = HAS_HANDLES ? `/proc/self/fd/${handle.fd}` : shown;
      for (const entry of await readdir(place, { withFileTypes: true })) {
        const below = path === "" ? entry.name : `${path}/${entry.name}`;
        const source = `${place}/${entry.name}`;
        const target = entry.isSymbolicLink() ? await readlink(source).catch(absent) : undefined;
        if (target !== undefined && matches(below, target)) return below;
        if (!entry.isDirectory() || below.split("/").length > MOST_DEPTH) continue;
        const seen = await lstat(source, { bigint: true }).catch(absent);
        const opened = seen?.isDirectory() ? await openSeen(source, join(shown, entry.name), seen) : "gone";
        const found = typeof opened === "string" ? undefined : await look(opened, join(shown, entry.name), below);
        if (found !== undefined) return found;
      }
      return undefined;
    } finally {
      await handle.close();
    }
  }
}

async function* readFrom(handle: FileHandle, size: number): AsyncGenerator<Buffer> {
  for (let left = size; left > 0;) {
    const buffer = Buffer.allocUnsafe(Math.min(left, CHUNK));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, null);
    if (bytesRead === 0) return;
    left -= bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Describes what a copy lacks, in one sentence for each reason. */
export const describeProblems = ({ problems }: FileCounts): string[] =>
  [...problems].map(
    ([reason, { paths, example }]) =>
      `${paths === 1 ? "One path is" : `${paths} paths are`} not in the archive as on disk, because ${reason}: ` +
      `${JSON.stringify(example)}${paths === 1 ? "" : " and others"}.`,
  );

const absent = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== "ENOENT") throw error;
};

/**
 * Links all files of a directory into another one of the same file system, so that deletions during the backup do not
 * reach it. @returns false where the file system has no links
 */
export async function linkFiles(from: string, to: string): Promise<boolean> {
  try {
    await linkFolder(from, to, new Set([to]));
    return true;
  } catch (error) {
    await rm(to, { recursive: true, force: true });
    if (["EPERM", "ENOTSUP", "EXDEV", "EMLINK", "ENOSYS"].includes((error as NodeJS.ErrnoException).code ?? ""))
      return false;
    throw error;
  }
}

async function linkFolder(from: string, to: string, except: Set<string>): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const entry of await readdir(from, { withFileTypes: true }).catch((error) => absent(error) ?? [])) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (except.has(source) || entry.name.startsWith(BACKUP_LINKS)) continue;
    if (entry.isDirectory()) await linkFolder(source, target, except);
    else if (entry.isFile()) await link(source, target).catch(absent);
  }
}

/** Prefix of the directory of links; the dot keeps it from being a blob's name. */
export const BACKUP_LINKS = ".backup-";
