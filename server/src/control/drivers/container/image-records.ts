import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** What a revision runs, as it was when its image was made or brought. */
export interface ImageRecord {
  deploymentId: string;
  /** In the engine. */
  id: string;
  /** Our name for it, with which it stays. */
  name: string;
  /** The name that it was pulled by, when the engine did not have it before: it goes with the last of ours. */
  pulled: string | null;
  /** In the embedded registry, where it came from there. */
  digest: string | null;
}

/** A file a revision, so that what there is can be told without asking the engine. */
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

  /** Ids of revisions. */
  async list(): Promise<string[]> {
    const names = await readdir(this.#directory).catch((): string[] => []);
    return names.filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -".json".length));
  }

  async all(): Promise<ImageRecord[]> {
    const records = await Promise.all((await this.list()).map((id) => this.read(id)));
    return records.filter((one) => one !== null);
  }
}
