import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import type { Transaction } from "./connect.ts";

/**
 * SQL functions of a build, and their position in the history of all builds. They are replaced without a migration:
 * builds of one schema version run side by side during a rolling upgrade, and each installs its functions at startup.
 * The file `VERSION` beside them, `<number> <hash of their text>`, orders them: `npm run schema` increments the number
 * when the text has changed, and `npm run check` fails when that was not done.
 *
 * A lower number than the installed one leaves the database unchanged. An equal number with another text is work in
 * progress, or another branch: the last start wins.
 */
export interface SqlFunctions {
  version: number;
  text: string;
  hash: string;
}

const VERSION_LINE = /^(\d+) ([0-9a-f]{64})$/;

export async function readFunctions(directory: string): Promise<SqlFunctions> {
  const file = join(directory, "VERSION");
  const [, version] = VERSION_LINE.exec((await readFile(file, "utf8")).trim()) ?? [];
  if (version === undefined)
    throw new Error(`${file} must consist of one line "<number> <sha256>". Run: npm run schema`);
  const text = await readText(directory);
  return { version: Number(version), text, hash: hashText(text) };
}

export const hashFunctions = async (directory: string): Promise<string> => hashText(await readText(directory));

/** Reads one file per slice. Functions may call each other, so Postgres checks their bodies only at the first call. */
async function readText(directory: string): Promise<string> {
  const files = (await readdir(directory)).filter((name) => name.endsWith(".sql")).sort();
  const texts = await Promise.all(files.map((name) => readFile(join(directory, name), "utf8")));
  return ["set local check_function_bodies = off;", ...texts].join("\n");
}

const hashText = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Installs the functions unless these, or newer ones, are installed. The caller's transaction has exclusive access. */
export async function installFunctions(tx: Transaction, { version, text, hash }: SqlFunctions): Promise<boolean> {
  await tx`create table if not exists heddle_functions (hash text primary key,
    applied_at timestamptz not null default now(), version integer not null default 0)`;
  // created by 0.6
  await tx`alter table heddle_functions add column if not exists version integer not null default 0`;
  const [installed] = await tx<{ version: number; hash: string }[]>`
    select version, hash from heddle_functions order by version desc limit 1`;
  if (installed && installed.version > version) return false;
  if (installed?.hash === hash) {
    if (installed.version < version) await tx`update heddle_functions set version = ${version} where hash = ${hash}`;
    return false;
  }
  await tx.unsafe(text);
  await tx`delete from heddle_functions`;
  await tx`insert into heddle_functions (hash, version) values (${hash}, ${version})`;
  return true;
}

/**
 * Returns the text of `VERSION` for functions of this hash.
 * @param found the file's current text; in a merge conflict, all of its versions count
 */
export function nextVersion(found: string, hash: string): string {
  const lines = found.trim().split("\n");
  if (lines.length === 1 && VERSION_LINE.exec(lines[0]!)?.[2] === hash) return found;
  const numbers = lines.map((line) => Number(VERSION_LINE.exec(line.trim())?.[1] ?? 0));
  return `${Math.max(...numbers) + 1} ${hash}\n`;
}
