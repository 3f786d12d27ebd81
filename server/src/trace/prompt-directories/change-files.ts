/**
 * Files of an agent or a skill. A directory is a commit whose manifest is `{"files": {path: entry}}`, the whole tree by
 * path in the order of the paths, so that the same tree has the same text.
 */
import { AppError, unprocessable } from "../../base/errors.ts";
import { describeIssues } from "../../base/http/errors.ts";
import { type Entry, entry, filePath, MAX_DIRECTORY_BYTES, MAX_FILES } from "./schema.ts";

export type Files = Map<string, Entry>;

/** Changes of files by path; null deletes one. */
export type FileChanges = Map<string, Entry | null>;

/** Validates the changes of a request. @param files as decoded from JSON. @throws 422 that names the file */
export function readChanges(files: object): FileChanges {
  const all = Object.entries(files);
  if (all.length > MAX_FILES) throw unprocessable(`files: more than ${MAX_FILES} in a commit`);
  return new Map(
    all.map(([path, value]) => {
      const checked = filePath.safeParse(path);
      if (!checked.success) throw unprocessable(`files: ${JSON.stringify(path)} ${describeIssues(checked.error, "")}`);
      if (value === null) return [path, null];
      const parsed = entry.safeParse(value);
      if (!parsed.success) throw unprocessable(`files.${path}: ${describeIssues(parsed.error, "entry")}`);
      return [path, parsed.data];
    }),
  );
}

export const readFiles = (manifest: string): Files =>
  new Map(Object.entries((JSON.parse(manifest) as { files: Record<string, Entry> }).files));

export const writeFiles = (files: Files): string =>
  JSON.stringify({ files: Object.fromEntries([...files].toSorted(([a], [b]) => (a < b ? -1 : 1))) });

/** Applies changes to a tree. @throws 422 for a deleted file that is not there, a path below a file, or too many files */
export function changeFiles(before: Files, changes: FileChanges): Files {
  const files = new Map(before);
  for (const [path, change] of changes) {
    if (change !== null) files.set(path, change);
    else if (!files.delete(path))
      throw unprocessable(`files.${path}: cannot be deleted, the directory has no such file`);
  }
  if (files.size > MAX_FILES) throw unprocessable(`files: a directory has at most ${MAX_FILES}`);
  let bytes = 0;
  for (const [path, { type, ...rest }] of files) {
    if (type === "file") bytes += Buffer.byteLength((rest as { content: string }).content);
    for (let at = path.indexOf("/"); at > 0; at = path.indexOf("/", at + 1)) {
      const parent = path.slice(0, at);
      if (files.has(parent)) throw unprocessable(`files.${path}: ${parent} is a file and cannot be a directory too`);
    }
  }
  if (bytes > MAX_DIRECTORY_BYTES) {
    throw new AppError(413, `The files have ${bytes} bytes together, the limit is ${MAX_DIRECTORY_BYTES}.`);
  }
  return files;
}
