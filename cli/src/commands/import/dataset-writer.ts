import type { CopiedFile, CopyRecord } from "./copy.ts";
import type { Server } from "./server.ts";
import { type DatasetChange, type Example, exampleHash } from "./traces-source.ts";
import { RejectedError } from "../../core/reach.ts";

const V1 = "/api/v1";
const PAGE = 100;

type Left = (what: string) => void;
type Fields = Record<string, unknown>;

/** What the copy knows of a dataset in the target. */
interface Progress {
  /** Hashes of the source's examples at the version that was read last, by id. */
  source: Map<string, string>;
  /** Hashes of the target's examples before the copy, until they were found to be a version of the source. */
  target: Map<string, string> | undefined;
  /** Versions of the target before the copy. */
  versions: number;
  /** Versions of the source that were read. */
  read: number;
}

/**
 * Writes datasets version by version, one change after another. In a dataset that exists, the versions of the source up
 * to the target's content are skipped.
 */
export class DatasetWriter {
  readonly #server: Server;
  readonly #isDry: boolean;
  readonly #progress = new Map<string, Progress>();
  /** Datasets that are not written. */
  readonly #left = new Set<string>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(server: Server, isDry: boolean) {
    this.#server = server;
    this.#isDry = isDry;
  }

  async writeDataset(dataset: Fields, left: Left): Promise<boolean> {
    const { id, name } = dataset as { id: string; name: string };
    if (await this.#server.find(`${V1}/datasets/${id}`)) {
      const target = await this.#currentExamples(id);
      const versions = await this.#countVersions(id);
      // created by a copy that was interrupted
      const isEmpty = target.size === 0 && versions <= 1;
      this.#progress.set(id, { source: new Map(), target: isEmpty ? undefined : target, versions, read: 0 });
      return false;
    }
    this.#progress.set(id, { source: new Map(), target: undefined, versions: 0, read: 0 });
    if (this.#isDry) return true;
    const fields = Object.fromEntries(FIELDS.filter((key) => dataset[key] != null).map((key) => [key, dataset[key]]));
    try {
      await this.#server.send("POST", `${V1}/datasets`, fields);
    } catch (error) {
      this.#left.add(id);
      if (!(error instanceof RejectedError) || error.status !== 409) throw error;
      left(`dataset ${name}: the target has another dataset of this name; nothing was changed`);
      return false;
    }
    return true;
  }

  /** Writes one after another: the versions of a dataset have an order. */
  writeVersion(change: CopyRecord): Promise<boolean> {
    const result = this.#last.then(() => this.#write(change));
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #write({ text, files = [] }: CopyRecord): Promise<boolean> {
    const change = JSON.parse(text) as DatasetChange;
    const progress = this.#progress.get(change.dataset_id);
    if (!progress || this.#left.has(change.dataset_id)) return false;
    const earlier = new Set(progress.source.keys());
    for (const id of change.removed) progress.source.delete(id);
    for (const example of change.set) progress.source.set(example.id, hashOf(example, files));
    progress.read++;
    if (progress.target) {
      if (progress.read >= progress.versions && isEqual(progress.source, progress.target)) progress.target = undefined;
      return false;
    }
    if (this.#isDry) return true;
    let asOf: string | undefined;
    const added = change.set.filter(({ id }) => !earlier.has(id));
    const changed = change.set.filter(({ id }) => earlier.has(id));
    if (added.length > 0) asOf = await this.#send("POST", change.dataset_id, added, files);
    if (changed.length > 0) asOf = await this.#send("PATCH", change.dataset_id, changed, files);
    for (let at = 0; at < change.removed.length; at += PAGE) {
      const ids = change.removed.slice(at, at + PAGE);
      await this.#server.sendText("DELETE", `${V1}/examples?${ids.map((id) => `example_ids=${id}`).join("&")}`);
    }
    const tags = change.tags.filter((tag) => tag !== "latest");
    for (const tag of tags) {
      asOf ??= (
        await this.#server.send<{ as_of: string }[]>("GET", `${V1}/datasets/${change.dataset_id}/versions?limit=1`)
      )[0]!.as_of;
      await this.#server.send("PUT", `${V1}/datasets/${change.dataset_id}/tags`, { as_of: asOf, tag });
    }
    return true;
  }

  /** Reports the datasets whose content is none of the source's versions. */
  finish(left: Left): void {
    for (const [id, { target }] of this.#progress) {
      if (target)
        left(`dataset ${id}: the target's examples are not those of a version of the source; nothing was changed`);
    }
  }

  async #send(method: "POST" | "PATCH", dataset: string, examples: Example[], files: CopiedFile[]): Promise<string> {
    const form = new FormData();
    for (const { id, inputs, outputs, metadata, source_run_id, created_at } of examples) {
      const { dataset_split: split, ...rest } = metadata ?? {};
      const own = files.filter(({ name }) => name.startsWith(`${id}/`));
      const info = { metadata: rest, ...(split !== undefined && { split }) };
      const created = { ...(source_run_id && { source_run_id }), created_at };
      form.append(id, json(method === "POST" ? { ...info, ...created } : info));
      form.append(`${id}.inputs`, json(inputs));
      if (outputs != null) form.append(`${id}.outputs`, json(outputs));
      if (method === "PATCH") form.append(`${id}.attachments_operations`, json({ retain: [] }));
      for (const { name, mime_type, read } of own)
        form.append(
          `${id}.attachment.${name.slice(id.length + 1)}`,
          new Blob([(await read()) as BlobPart], { type: mime_type }),
        );
    }
    const answer = await this.#server.sendText(method, `/v1/platform/datasets/${dataset}/examples`, form);
    return (JSON.parse(answer) as { as_of: string }).as_of;
  }

  async #currentExamples(dataset: string): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for (let offset = 0; ; offset += PAGE) {
      const path = `${V1}/examples?dataset=${dataset}&limit=${PAGE}&offset=${offset}&order=id`;
      const page = await this.#server.send<Example[]>("GET", path);
      for (const example of page) found.set(example.id, exampleHash(example));
      if (page.length < PAGE) return found;
    }
  }

  async #countVersions(dataset: string): Promise<number> {
    for (let offset = 0; ; offset += PAGE) {
      const path = `${V1}/datasets/${dataset}/versions?limit=${PAGE}&offset=${offset}`;
      const page = await this.#server.send<unknown[]>("GET", path);
      if (page.length < PAGE) return offset + page.length;
    }
  }
}

const json = (value: unknown): Blob => new Blob([JSON.stringify(value)], { type: "application/json" });

function hashOf(example: Example, files: readonly CopiedFile[]): string {
  const own = files.filter(({ name }) => name.startsWith(`${example.id}/`));
  const links = own.map(({ name }) => [`attachment.${name.slice(example.id.length + 1)}`, { presigned_url: "" }]);
  return exampleHash({ ...example, attachment_urls: Object.fromEntries(links) as Example["attachment_urls"] & object });
}

const isEqual = (a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean =>
  a.size === b.size && [...a].every(([id, hash]) => b.get(id) === hash);

const FIELDS = `id name description created_at inputs_schema_definition outputs_schema_definition externally_managed
  transformations data_type metadata`.split(/\s+/);
