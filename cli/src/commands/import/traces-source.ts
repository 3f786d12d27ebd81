/** Reads what a trace platform stores: prices, datasets with versions, projects with runs and feedback. */
import { createHash } from "node:crypto";

import { rawElements, rawMember } from "../../core/raw-member.ts";
import { sortedKeys } from "../../core/sorted-keys.ts";
import { type Batch, type CopiedFile, type CopyRecord, type Positions, record, type Source } from "./copy.ts";
import { listRepos, readPrompt } from "../prompts/import-prompts.ts";
import type { Server } from "./server.ts";

export interface Project {
  id: string;
  name: string;
  reference_dataset_id?: string | null;
}

export interface Example {
  id: string;
  inputs: unknown;
  outputs?: unknown;
  metadata?: Record<string, unknown> | null;
  source_run_id?: string | null;
  created_at?: string;
  attachment_urls?: Record<string, Link> | null;
}

/** What a version of a dataset changed. Files are named `<example id>/<attachment>`. */
export interface DatasetChange {
  dataset_id: string;
  as_of: string;
  tags: string[];
  set: Example[];
  removed: string[];
}

interface Link {
  presigned_url: string;
  mime_type?: string | null;
}

export interface Selection {
  /** Names; all projects when empty. */
  projects: readonly string[];
  /** Only runs that started at this time or later. */
  since?: string | undefined;
}

const PAGE = 100;
const V1 = "/api/v1";
const RUN_FIELDS = `id name run_type start_time end_time status error extra events inputs outputs serialized
  parent_run_id trace_id dotted_order session_id tags reference_example_id s3_urls inputs_s3_urls outputs_s3_urls
  feedback_stats`.split(/\s+/);

type Left = (what: string) => void;

export class TraceSource implements Source {
  readonly #server: Server;
  readonly #selection: Selection;

  constructor(server: Server, selection: Selection) {
    this.#server = server;
    this.#selection = selection;
  }

  async *batches(positions: Positions, left: Left): AsyncGenerator<Batch> {
    yield* this.#prices();
    const projects = await this.#projects(left);
    const isPart = this.#selection.projects.length > 0;
    const used = new Set(projects.map(({ reference_dataset_id: id }) => id));
    const datasets = (await this.#list<{ id: string; name: string }>("/datasets", "&sort_by=created_at")).filter(
      ({ id }) => !isPart || used.has(id),
    );
    if (datasets.length > 0) yield { kind: "datasets", records: datasets.map((dataset) => record(dataset)) };
    for (const { id } of datasets) yield* this.#versions(id);
    if (projects.length > 0) yield { kind: "projects", records: projects.map((project) => record(project)) };
    for (const project of projects) yield* this.#runs(project, positions);
    if (!isPart) yield* this.#prompts();
  }

  async *#prompts(): AsyncGenerator<Batch> {
    const api = this.#server.traceApi();
    for (const repo of await listRepos(api)) yield { kind: "prompts", records: [record(await readPrompt(api, repo))] };
  }

  async #list<T>(path: string, order: string): Promise<T[]> {
    const all: T[] = [];
    for (let offset = 0; ; offset += PAGE) {
      const page = await this.#server.send<T[]>("GET", `${V1}${path}?limit=${PAGE}&offset=${offset}${order}`);
      all.push(...page);
      if (page.length < PAGE) return all;
    }
  }

  async *#prices(): AsyncGenerator<Batch> {
    const prices = await this.#server.send<{ tenant_id: string | null }[]>("GET", `${V1}/model-price-map`);
    const own = prices.filter(({ tenant_id: owner }) => owner !== null);
    if (own.length > 0) yield { kind: "prices", records: own.map((price) => record(price)) };
  }

  async #projects(left: Left): Promise<Project[]> {
    const all = await this.#list<Project>("/sessions", "&sort_by=start_time");
    const { projects: names } = this.#selection;
    for (const name of names) {
      if (!all.some((project) => project.name === name)) left(`project ${name}: the source has no such project`);
    }
    return names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
  }

  async *#runs({ id }: Project, positions: Positions): AsyncGenerator<Batch> {
    const part = `runs:${id}`;
    const from = positions[part] ?? this.#selection.since;
    const query = { session: [id], order: "asc", limit: PAGE, select: RUN_FIELDS, skip_prev_cursor: true };
    let cursor: string | null = null;
    do {
      const body = JSON.stringify({ ...query, ...(from && { start_time: from }), ...(cursor && { cursor }) });
      const page: string = await this.#server.sendText("POST", `${V1}/runs/query`, body);
      const texts = rawElements(rawMember(page, "runs")!);
      cursor = (JSON.parse(rawMember(page, "cursors") ?? "{}") as { next?: string | null }).next ?? null;
      const runs = texts.map((text) => JSON.parse(text) as Run);
      const last = runs.at(-1);
      if (!last) break;
      const judged = runs.filter(({ feedback_stats: stats }) => stats && Object.keys(stats).length > 0);
      const feedback = judged.length > 0 ? await this.#feedback(judged.map((run) => `run=${run.id}`)) : [];
      const position: Batch["position"] = [part, last.start_time];
      const records = await Promise.all(texts.map((text, index) => this.#runRecord(text, runs[index]!)));
      yield { kind: "runs", records, ...(feedback.length === 0 && { position }) };
      if (feedback.length > 0) yield { kind: "feedback", records: feedback, position };
    } while (cursor !== null);
    const ofProject = await this.#feedback([`session=${id}`, "level=session"]);
    if (ofProject.length > 0) yield { kind: "feedback", records: ofProject };
  }

  /** The run's text without links, which expire. */
  async #runRecord(text: string, run: Run): Promise<CopyRecord> {
    let kept = text;
    for (const [field, links] of [
      ["inputs", run.inputs_s3_urls],
      ["outputs", run.outputs_s3_urls],
    ] as const) {
      // LangSmith stores large texts in a bucket
      if (!links?.["ROOT"] || rawMember(kept, field) !== "null") continue;
      const stored = (await this.#server.download(links["ROOT"].presigned_url)).toString("utf8");
      kept = `${kept.slice(0, kept.lastIndexOf("}"))},"${field}":${stored}}`;
    }
    for (const field of ["s3_urls", "inputs_s3_urls", "outputs_s3_urls", "feedback_stats"]) {
      const found = rawMember(kept, field);
      if (found !== undefined && found !== "null") kept = kept.replace(found, () => "null");
    }
    return { text: kept, files: this.#files(run.s3_urls) };
  }

  #files(links: Record<string, Link> | null | undefined, prefix = ""): CopiedFile[] {
    const entries = Object.entries(links ?? {}).filter(([name]) => name.startsWith("attachment."));
    return entries.map(([name, { presigned_url: link, mime_type: type }]) => ({
      name: prefix + name.slice("attachment.".length),
      mime_type: type ?? "application/octet-stream",
      read: () => this.#server.download(link),
    }));
  }

  async #feedback(filter: string[]): Promise<CopyRecord[]> {
    return (await this.#list<object>("/feedback", `&${filter.join("&")}`)).map((each) => record(each));
  }

  /** Versions, oldest first. Each is read as a whole and compared with the one before by the hashes of its examples. */
  async *#versions(dataset: string): AsyncGenerator<Batch> {
    const versions = await this.#list<{ as_of: string; tags?: string[] | null }>(`/datasets/${dataset}/versions`, "");
    const before = new Map<string, string>();
    for (const { as_of, tags } of versions.toSorted((a, b) => (a.as_of < b.as_of ? -1 : 1))) {
      const present = new Set<string>();
      const change: DatasetChange = { dataset_id: dataset, as_of, tags: [...(tags ?? [])], set: [], removed: [] };
      const files: CopiedFile[] = [];
      const query = `&dataset=${dataset}&as_of=${encodeURIComponent(as_of)}&order=id`;
      for (const example of await this.#list<Example>("/examples", query)) {
        const { attachment_urls: links, ...rest } = example;
        const hash = exampleHash(example);
        present.add(example.id);
        if (before.get(example.id) === hash) continue;
        before.set(example.id, hash);
        change.set.push(rest);
        files.push(...this.#files(links, `${example.id}/`));
      }
      change.removed = [...before.keys()].filter((id) => !present.has(id));
      for (const id of change.removed) before.delete(id);
      yield { kind: "versions", records: [record(change, files)] };
    }
  }
}

interface Run {
  id: string;
  start_time: string;
  feedback_stats?: object | null;
  s3_urls?: Record<string, Link> | null;
  inputs_s3_urls?: Record<string, Link> | null;
  outputs_s3_urls?: Record<string, Link> | null;
}

/** A hash of what an example consists of; of its attachments, the names. */
export function exampleHash({ inputs, outputs, metadata, attachment_urls: links }: Example): string {
  const names = Object.keys(links ?? {}).toSorted();
  const text = JSON.stringify([inputs, outputs ?? null, metadata ?? {}, names].map(sortedKeys));
  return createHash("sha256").update(text).digest("base64");
}
