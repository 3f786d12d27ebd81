import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { renameSync, rmSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { giveToOwner } from "../keep-owner.ts";
import { generateKey } from "./keyring.ts";

const HEADER =
  "# Encryption keys of Heddle's stored secrets, newest first. This file together with the database gives access to\n" +
  "# all secrets; without it they are lost. Keep a backup of it, separate from the database's.\n";

export const defaultKeyFile = (dataDir: string): string => join(dataDir, "secrets.keys");

/** Returns the file's text; null when it does not exist. */
export function readKeyFile(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** Whether the file is readable by others than its owner. */
export const isExposed = (path: string): boolean => process.platform !== "win32" && (statSync(path).mode & 0o077) !== 0;

/** Creates the file with one new key, or reads the one that another process created at the same moment. */
export function createKeyFile(path: string): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const fresh = writeAside(path, `${HEADER}${generateKey()}\n`);
  try {
    // unlike a rename, a link never replaces: of two processes one wins, and both use its key
    linkSync(fresh, path);
    syncDirectory(dirname(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    unlinkSync(fresh);
  }
  return readFileSync(path, "utf8");
}

/** Prepends a new key. It is durable when this returns, before anything is sealed with it. */
export function prependKey(path: string, line: string): void {
  const text = readFileSync(path, "utf8");
  const body = text.startsWith(HEADER) ? text.slice(HEADER.length) : text;
  replaceFile(path, `${HEADER}${line}\n${body}`);
}

/** Removes a key. */
export function removeKey(path: string, id: string): void {
  const lines = readFileSync(path, "utf8").split("\n");
  replaceFile(path, lines.filter((line) => !line.trim().startsWith(`${id}:`)).join("\n"));
}

function replaceFile(path: string, text: string): void {
  renameSync(writeAside(path, text), path);
  syncDirectory(dirname(path));
}

function writeAside(path: string, text: string): string {
  const aside = `${path}.${randomBytes(4).toString("hex")}`;
  const descriptor = openSync(aside, "wx", 0o600);
  try {
    // writes everything or throws: on a full disk a single write may store only a part and report it only by its length
    writeFileSync(descriptor, text);
    giveToOwner(descriptor, dirname(path));
    fsyncSync(descriptor);
  } catch (error) {
    rmSync(aside, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
  return aside;
}

function syncDirectory(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
