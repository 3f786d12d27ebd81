import { type FileHandle, mkdir, open, rm } from "node:fs/promises";
import { dirname } from "node:path";

import type { SpillSpace } from "./spill-space.ts";

/** Append-only file, created on the first write. Its bytes count against the shared space. */
export class SpillFile {
  readonly #path: string;
  readonly #space: SpillSpace | undefined;
  #file: FileHandle | undefined;
  #end = 0;

  constructor(path: string, space: SpillSpace | undefined) {
    this.#path = path;
    this.#space = space;
  }

  /**
   * @returns the offset of the bytes. Rejects with a readable message, and leaves the file unchanged, when they do not
   * fit.
   */
  async append(bytes: Buffer): Promise<number> {
    if (this.#space && !this.#space.take(bytes.length)) {
      throw new Error(
        `This server's streams need more than ${Math.floor(this.#space.limit / 1024 / 1024)} MB of disk.`,
      );
    }
    const at = this.#end;
    try {
      if (!this.#file) {
        await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
        this.#file = await open(this.#path, "w+");
      }
      for (let done = 0; done < bytes.length;) {
        const { bytesWritten } = await this.#file.write(bytes, done, bytes.length - done, at + done);
        done += bytesWritten;
      }
    } catch (error) {
      this.#space?.give(bytes.length);
      throw new Error(`The disk of the server's data directory failed: ${(error as Error).message}.`, { cause: error });
    }
    this.#end = at + bytes.length;
    return at;
  }

  async read(at: number, length: number): Promise<Buffer> {
    if (!this.#file) throw new Error("the spill file of the stream is missing");
    const bytes = Buffer.allocUnsafe(length);
    const { bytesRead } = await this.#file.read(bytes, 0, length, at);
    if (bytesRead < length) throw new Error("the spill file of the stream is truncated");
    return bytes;
  }

  async remove(): Promise<void> {
    const file = this.#file;
    if (!file) return;
    this.#file = undefined;
    this.#space?.give(this.#end);
    this.#end = 0;
    // an error on closing a file that is deleted anyway is harmless
    await file.close().catch(() => {});
    await rm(this.#path, { force: true }).catch(() => {});
  }
}
