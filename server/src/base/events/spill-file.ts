import { type FileHandle, mkdir, open, rm } from "node:fs/promises";
import { dirname } from "node:path";

import type { SpillSpace } from "./spill-space.ts";

/** A file that grows at its end and is made with the first bytes. Its bytes count against the space that it shares. */
export class SpillFile {
  readonly #path: string;
  readonly #space: SpillSpace | undefined;
  #file: FileHandle | undefined;
  #end = 0;

  constructor(path: string, space: SpillSpace | undefined) {
    this.#path = path;
    this.#space = space;
  }

  /** @returns where they begin. Rejects, and leaves the file as it was, when they do not fit: with a sentence for people. */
  async append(bytes: Buffer): Promise<number> {
    if (this.#space && !this.#space.take(bytes.length)) {
      throw new Error(
        `The streams of this server need more than ${Math.floor(this.#space.limit / 1024 / 1024)} MB of disk.`,
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
    if (!this.#file) throw new Error("the file of a stream is gone");
    const bytes = Buffer.allocUnsafe(length);
    const { bytesRead } = await this.#file.read(bytes, 0, length, at);
    if (bytesRead < length) throw new Error("the file of a stream is incomplete");
    return bytes;
  }

  async remove(): Promise<void> {
    const file = this.#file;
    if (!file) return;
    this.#file = undefined;
    this.#space?.give(this.#end);
    this.#end = 0;
    // a disk that fails to close a file that goes anyway harms nothing
    await file.close().catch(() => {});
    await rm(this.#path, { force: true }).catch(() => {});
  }
}
