import { createReadStream } from "node:fs";
import { link, lstat, mkdir, readdir, readlink, rm } from "node:fs/promises";
import { join } from "node:path";

import type { ArchiveWriter } from "./archive-writer.ts";

interface FileCounts {
  files: number;
  bytes: number;
  /** Files that were deleted while the backup ran. */
  gone: number;
}

/** Yields a directory with all it contains as entries below `name`. `leavesOut` gets paths below the directory. */
export async function* copyFiles(
  archive: ArchiveWriter,
  directory: string,
  name: string,
  leavesOut: (path: string) => boolean = () => false,
): AsyncGenerator<Buffer, FileCounts> {
  const counts: FileCounts = { files: 0, bytes: 0, gone: 0 };
  yield* walk("");
  return counts;

  async function* walk(path: string): AsyncGenerator<Buffer> {
    const names = await readdir(join(directory, path)).catch(absent);
    if (!names) return void counts.gone++;
    for (const child of names.sort()) {
      const below = path === "" ? child : `${path}/${child}`;
      if (leavesOut(below)) continue;
      const source = join(directory, below);
      const stat = await lstat(source).catch(absent);
      if (!stat) {
        counts.gone++;
        continue;
      }
      const entry = { name: `${name}/${below}`, mode: stat.mode, uid: stat.uid, gid: stat.gid, target: "" };
      if (stat.isDirectory()) {
        yield* archive.empty({ ...entry, type: "directory" });
        yield* walk(below);
      } else if (stat.isSymbolicLink()) {
        const target = await readlink(source).catch(absent);
        if (target !== undefined) yield* archive.empty({ ...entry, type: "link", target });
      } else if (stat.isFile()) {
        const content = await openFile(source);
        if (!content) {
          counts.gone++;
          continue;
        }
        yield* archive.stream({ ...entry, type: "file", size: stat.size }, content);
        counts.files++;
        counts.bytes += stat.size;
      }
    }
  }
}

/** Opens a file for reading; undefined when it is gone. An open file stays readable after its deletion. */
async function openFile(path: string): Promise<AsyncIterable<Buffer> | undefined> {
  const stream = createReadStream(path, { highWaterMark: 1024 * 1024 });
  return new Promise((resolve, reject) => {
    stream.once("open", () => resolve(stream as AsyncIterable<Buffer>));
    stream.once("error", (error: NodeJS.ErrnoException) =>
      error.code === "ENOENT" ? resolve(undefined) : reject(error),
    );
  });
}

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
