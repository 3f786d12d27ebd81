import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Image of a revision, as recorded when it was built or pulled. */
export interface ImageRecord {
  deploymentId: string;
  /** Id in the engine. */
  id: string;
  /** Our tag, which keeps the image in the engine. */
  name: string;
  /** Name it was pulled by, when the engine did not have it before; removed with the last tag of ours. */
  pulled: string | null;
  /** Digest in the embedded registry, when it came from there. */
  digest: string | null;
}

/** Store of one file per revision, which can be read without calling the engine. */
export class ImageRecords {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  #file(revisionId: string): string {
    return join(this.#directory, `${revisionId}.json`);
  }

  has(revisionId: string): boolean {
    return existsSync(this.#file(revisionId));
  }

  async read(revisionId: string): Promise<ImageRecord | null> {
    try {
      return JSON.parse(await readFile(this.#file(revisionId), "utf8")) as ImageRecord;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
      throw error;
    }
  }

  async write(revisionId: string, record: ImageRecord): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const part = `${this.#file(revisionId)}.part`;
    await writeFile(part, JSON.stringify(record), { mode: 0o600 });
    await rename(part, this.#file(revisionId));
  }

  async delete(revisionId: string): Promise<void> {
    await rm(this.#file(revisionId), { force: true });
  }

  /** Lists the ids of revisions. */
  async list(): Promise<string[]> {
    const names = await readdir(this.#directory).catch((): string[] => []);
    return names.filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -".json".length));
  }

  async all(): Promise<ImageRecord[]> {
    const records = await Promise.all((await this.list()).map((id) => this.read(id)));
    return records.filter((record) => record !== null);
  }
}
