import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";

/** Store of contents too large for a row. Names are ours: `folder/name`, letters, digits and dashes. */
export interface BlobStore {
  /** Resolves when the content is durable. */
  put(name: string, content: Buffer): Promise<void>;
  /** Undefined when the name does not exist. */
  read(name: string): Promise<{ size: number; content: Readable } | undefined>;
  /** Ignores unknown names. */
  delete(names: readonly string[]): Promise<void>;
}

export const BLOB_NAME = /^[0-9a-z-]+(\/[0-9a-z-]+)*$/i;

/** Stores blobs as files below a directory. Writes are atomic, also across a power failure. */
export class FileBlobStore implements BlobStore {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async put(name: string, content: Buffer): Promise<void> {
    const path = this.#path(name);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const aside = `${path}.${randomBytes(4).toString("hex")}.tmp`;
    try {
      const file = await open(aside, "wx", 0o600);
      try {
        await file.writeFile(content);
        await file.datasync();
      } finally {
        await file.close();
      }
      await rename(aside, path);
    } catch (error) {
      // on a full disk, a partial file would keep it full
      await rm(aside, { force: true });
      throw error;
    }
    for (const folder of [dirname(path), this.#directory]) await syncDirectory(folder);
  }

  async read(name: string): Promise<{ size: number; content: Readable } | undefined> {
    const path = this.#path(name);
    try {
      const { size } = await stat(path);
      return { size, content: createReadStream(path) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
  }

  async delete(names: readonly string[]): Promise<void> {
    for (const name of names) await rm(this.#path(name), { force: true });
  }

  #path(name: string): string {
    if (!BLOB_NAME.test(name)) throw new Error(`invalid blob name: ${name}`);
    return join(this.#directory, name);
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
