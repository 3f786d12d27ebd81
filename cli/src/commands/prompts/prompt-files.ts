/**
 * Prompts in a repository: in one directory `NAME.json` (or `NAME.yaml`) with the manifest, `NAME.md` with the README, and
 * a lock file with the commit that each file was pulled from or pushed as. A JSON file holds the manifest's text as it is
 * stored, so that a push and a pull change no byte of it.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { parse as parseYaml, stringify as stringifyYaml } from "yaml";

import { UsageError } from "../../core/flags.ts";
import { sortedKeys } from "../../core/sorted-keys.ts";

export const LOCK_FILE = "heddle-prompts.lock.json";
const FORMATS = ["json", "yaml", "yml"] as const;

/** Names that the server admits; others never become part of a path. */
const NAME = /^[a-z][a-z0-9_-]*$/;

export interface LockEntry {
  owner: string;
  commit: string;
  /** SHA-256 of the manifest's content, which tells whether the file was edited since. */
  content: string;
}

export type Lock = Record<string, LockEntry>;

export interface PromptFile {
  path: string;
  /** JSON text. */
  manifest: string;
}

export function checkName(name: string): string {
  if (NAME.test(name)) return name;
  throw new UsageError(
    `"${name}" is not a name of a prompt: it begins with a lower-case letter and consists of a-z, 0-9, - and _.`,
  );
}

export function readLock(directory: string): Lock {
  const path = join(directory, LOCK_FILE);
  if (!existsSync(path)) return {};
  const found = parseJson(readFileSync(path, "utf8"), path) as { prompts?: Lock };
  if (typeof found.prompts !== "object" || found.prompts === null) {
    throw new UsageError(`${path} is not a lock file of heddle prompts. Delete it, and pull again.`);
  }
  return found.prompts;
}

export function writeLock(directory: string, lock: Lock): void {
  const sorted = Object.fromEntries(Object.entries(lock).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  write(directory, LOCK_FILE, `${JSON.stringify({ version: 1, prompts: sorted }, null, 2)}\n`);
}

/** Names of the prompts that have a file in the directory. */
export function listFiles(directory: string): string[] {
  if (!existsSync(directory)) return [];
  const names = readdirSync(directory).flatMap((file) => {
    const match = /^(.+)\.(json|ya?ml)$/.exec(file);
    return match && NAME.test(match[1]!) ? [match[1]!] : [];
  });
  return [...new Set(names)].toSorted();
}

/** Returns undefined when the prompt has no file. @throws UsageError for a file that is no manifest */
export function readPromptFile(directory: string, name: string): PromptFile | undefined {
  const paths = FORMATS.map((format) => join(directory, `${name}.${format}`)).filter((path) => existsSync(path));
  if (paths.length > 1) throw new UsageError(`There are ${paths.join(" and ")}. Delete all but one.`);
  const [path] = paths;
  if (path === undefined) return undefined;
  const text = readFileSync(path, "utf8");
  const value = path.endsWith(".json") ? parseJson(text, path) : readYaml(text, path);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UsageError(`${path} does not contain a manifest, which is an object.`);
  }
  return { path, manifest: path.endsWith(".json") ? text.trim() : JSON.stringify(value) };
}

/**
 * Writes the manifest in the format of the prompt's file, else in the given one. A file with the same content stays as it
 * is formatted. @returns its path
 */
export function writePromptFile(
  directory: string,
  name: string,
  manifest: string,
  { format, file }: { format: "json" | "yaml"; file: PromptFile | undefined },
): string {
  const path = file?.path ?? join(directory, `${name}.${format}`);
  if (file && contentHash(file.manifest) === contentHash(manifest)) return path;
  const text = path.endsWith(".json") ? manifest : stringifyYaml(JSON.parse(manifest), { lineWidth: 0 }).trimEnd();
  mkdirSync(directory, { recursive: true });
  writeFileSync(path, `${text}\n`);
  return path;
}

/** Returns undefined when there is no file. */
export function readReadme(directory: string, name: string): string | undefined {
  const path = join(directory, `${name}.md`);
  return existsSync(path) ? readFileSync(path, "utf8").trimEnd() : undefined;
}

export function writeReadme(directory: string, name: string, readme: string): void {
  if (readReadme(directory, name) !== readme.trimEnd()) write(directory, `${name}.md`, `${readme.trimEnd()}\n`);
}

/** SHA-256 over the content, which does not depend on the order of keys, on spaces and on the file's format. */
export const contentHash = (manifest: string): string =>
  createHash("sha256")
    .update(JSON.stringify(sortedKeys(JSON.parse(manifest))))
    .digest("hex");

/** Formats a manifest for comparison by lines: texts of several lines are shown as lines. */
export const readableManifest = (manifest: string): string =>
  stringifyYaml(sortedKeys(JSON.parse(manifest)), { lineWidth: 0, aliasDuplicateObjects: false });

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new UsageError(`${path} is not valid JSON: ${(error as Error).message}`);
  }
}

function readYaml(text: string, path: string): unknown {
  try {
    return parseYaml(text) as unknown;
  } catch (error) {
    throw new UsageError(`${path} is not valid YAML: ${(error as Error).message.split("\n")[0]}`);
  }
}

function write(directory: string, file: string, text: string): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, file), text);
}
