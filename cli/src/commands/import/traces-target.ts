/** Writes to a trace platform. Ids are kept, and what the target has is compared first. */
import { type Batch, type CopyRecord, forEach, isSame, type Target, type Written } from "./copy.ts";
import { type CopiedPrompt, type ImportReport, writePrompt } from "../prompts/import-prompts.ts";
import { DatasetWriter } from "./dataset-writer.ts";
import type { Server } from "./server.ts";
import type { Project } from "./traces-source.ts";
import { RejectedError } from "../../core/reach.ts";

const V1 = "/api/v1";
const AT_ONCE = 4;

type Left = (what: string) => void;
type Fields = Record<string, unknown>;

export class TraceTarget implements Target {
  readonly #server: Server;
  readonly #isDry: boolean;
  readonly #datasets: DatasetWriter;
  /** Ids in the target of the source's projects. */
  readonly #projects = new Map<string, string>();
  /** Projects that were created by this copy: the target has no runs of them. */
  readonly #empty = new Set<string>();

  #prompts: Promise<unknown> = Promise.resolve();

  constructor(server: Server, isDry: boolean) {
    this.#server = server;
    this.#isDry = isDry;
    this.#datasets = new DatasetWriter(server, isDry);
  }

  async write({ kind, records }: Batch, left: Left): Promise<Written> {
    if (kind === "runs") return this.#writeRuns(records, left);
    if (kind === "feedback") return this.#writeFeedback(records, left);
    if (kind === "prompts") return this.#writePrompts(records, left);
    if (kind === "prices") return this.#writePrices(records);
    const written: Written = { written: 0, same: 0 };
    await forEach(records, AT_ONCE, async (each) => {
      const value = JSON.parse(each.text) as Fields;
      try {
        const isNew =
          kind === "projects"
            ? await this.#writeProject(value, left)
            : kind === "datasets"
              ? await this.#datasets.writeDataset(value, left)
              : await this.#datasets.writeVersion(each);
        if (isNew) written.written++;
        else written.same++;
      } catch (error) {
        if (!isRefusal(error)) throw error;
        left(`${kind.slice(0, -1)} ${String(value["name"] ?? value["dataset_id"])}: ${error.message}`);
      }
    });
    return written;
  }

  async finish(left: Left): Promise<void> {
    this.#datasets.finish(left);
  }

  async #writePrices(records: CopyRecord[]): Promise<Written> {
    const known = (await this.#server.send<Fields[]>("GET", `${V1}/model-price-map`)).map(priceContent);
    const prices = records.map(({ text }) => priceContent(JSON.parse(text) as Fields));
    const missing = prices.filter((price) => !known.some((other) => isSame(price, other)));
    if (!this.#isDry) for (const price of missing) await this.#server.send("POST", `${V1}/model-price-map`, price);
    return { written: missing.length, same: prices.length - missing.length };
  }

  /** One after another: agents link to skills. */
  #writePrompts(records: CopyRecord[], left: Left): Promise<Written> {
    const result = this.#prompts.then(async () => {
      const written: Written = { written: 0, same: 0 };
      for (const { text } of records) {
        const copied = JSON.parse(text) as CopiedPrompt;
        const report: ImportReport = { prompts: 0, commits: 0, tags: 0, left: [] };
        const target = { to: this.#server.traceApi(), isDry: this.#isDry, print: () => undefined };
        await writePrompt(target, copied, report).catch((error: unknown) => {
          if (!(error instanceof RejectedError)) throw error;
          report.left.push(`${copied.repo.repo_handle}: ${error.message}`);
        });
        for (const what of report.left) left(`prompt ${what}`);
        if (report.commits > 0) written.written++;
        else written.same++;
      }
      return written;
    });
    this.#prompts = result.catch(() => undefined);
    return result;
  }

  async #writeProject(project: Fields, left: Left): Promise<boolean> {
    const { id, name } = project as Fields & Project;
    if (await this.#server.find(`${V1}/sessions/${id}`)) {
      this.#projects.set(id, id);
      return false;
    }
    const [named] = await this.#server.send<Project[]>(
      "GET",
      `${V1}/sessions?name=${encodeURIComponent(name)}&limit=1`,
    );
    this.#projects.set(id, named?.id ?? id);
    if (named) return false;
    if (this.#isDry) return true;
    const fields = pick(project, PROJECT_FIELDS);
    try {
      await this.#server.send("POST", `${V1}/sessions`, fields);
    } catch (error) {
      // a dataset that was not taken
      if (!isRefusal(error) || !fields["reference_dataset_id"]) throw error;
      const names = PROJECT_FIELDS.filter((field) => !field.endsWith("_dataset_id"));
      await this.#server.send("POST", `${V1}/sessions`, pick(fields, names));
      left(`project ${name}: its link to the dataset is not taken: ${error.message}`);
    }
    this.#empty.add(id);
    return true;
  }

  async #writeRuns(records: CopyRecord[], left: Left): Promise<Written> {
    const runs = records.map((each) => ({ ...each, run: JSON.parse(each.text) as RunHead }));
    const known = await this.#knownRuns(runs.filter(({ run }) => !this.#empty.has(run.session_id)));
    const missing = runs.filter(({ run }) => {
      const other = known.get(run.id);
      return !other || other.end_time !== run.end_time || (run.end_time !== null && other.status !== run.status);
    });
    const result = { written: missing.length, same: runs.length - missing.length };
    if (missing.length === 0 || this.#isDry) return result;
    const isWritten = await this.#sendRuns(missing, known, left).then(
      () => true,
      (error: unknown) => {
        if (!isRefusal(error)) throw error;
        return false;
      },
    );
    if (isWritten) return result;
    // one of them is refused
    for (const each of missing) {
      await this.#sendRuns([each], known, left).catch((error: unknown) => {
        if (!isRefusal(error)) throw error;
        result.written--;
        left(`run ${each.run.id}: ${error.message}`);
      });
    }
    return result;
  }

  async #sendRuns(runs: (CopyRecord & { run: RunHead })[], known: Map<string, RunHead>, left: Left): Promise<void> {
    const form = new FormData();
    for (const { run, text, files = [] } of runs) {
      const changed = {
        ...(this.#projectId(run.session_id) !== run.session_id && { session_id: this.#projectId(run.session_id) }),
        // statuses of runs that have not ended, which servers derive
        ...(!STATUSES.has(run.status) && { status: null }),
      };
      const isAsSent = Object.keys(changed).length === 0;
      // the last of two members of a name counts
      const sent = isAsSent ? text : `${text.slice(0, text.lastIndexOf("}"))},${JSON.stringify(changed).slice(1)}`;
      form.append(`${known.has(run.id) ? "patch" : "post"}.${run.id}`, part(sent, "application/json"));
      for (const { name, mime_type, read } of files) {
        const content = await read().catch((error: unknown) => {
          if (!(error instanceof RejectedError)) throw error;
          left(`attachment ${name} of run ${run.id}: ${error.message}`);
        });
        if (content) form.append(`attachment.${run.id}.${name}`, part(content, mime_type));
      }
    }
    await this.#server.sendText("POST", `${V1}/runs/multipart`, form);
  }

  /** What the target has of these runs. */
  async #knownRuns(runs: { run: RunHead }[]): Promise<Map<string, RunHead>> {
    const known = new Map<string, RunHead>();
    for (let at = 0; at < runs.length; at += 100) {
      const some = runs.slice(at, at + 100).map(({ run }) => run);
      const session = [...new Set(some.map((run) => this.#projectId(run.session_id)))];
      const query = { session, id: some.map(({ id }) => id), limit: 100, select: ["id", "end_time", "status"] };
      const found = await this.#server.send<{ runs: RunHead[] }>("POST", `${V1}/runs/query`, query);
      for (const run of found.runs) known.set(run.id, run);
    }
    return known;
  }

  #projectId(id: string): string {
    return this.#projects.get(id) ?? id;
  }

  async #writeFeedback(records: CopyRecord[], left: Left): Promise<Written> {
    const all = records.map(({ text }) => JSON.parse(text) as Fields);
    const known = await this.#knownFeedback(all);
    const missing = all.filter((each) => !isSame(judgement(known.get(String(each["id"])) ?? {}), judgement(each)));
    const result = { written: missing.length, same: all.length - missing.length };
    if (missing.length === 0 || this.#isDry) return result;
    const form = new FormData();
    for (const each of missing) {
      if (each["comparative_experiment_id"])
        left(`feedback ${String(each["id"])}: its link to a comparison of experiments is not taken`);
      const session = typeof each["session_id"] === "string" ? { session_id: this.#projectId(each["session_id"]) } : {};
      const body = { ...pick(each, FEEDBACK_FIELDS), ...session };
      form.append(`feedback.${String(each["id"])}`, part(JSON.stringify(body), "application/json"));
    }
    try {
      await this.#server.sendText("POST", `${V1}/runs/multipart`, form);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      left(`${missing.length} feedback: ${error.message}`);
    }
    return result;
  }

  /** What the target has, by id. */
  async #knownFeedback(all: Fields[]): Promise<Map<string, Fields>> {
    const ids = [...new Set(all.map((each) => each["run_id"]))];
    const runs = ids.filter((id) => typeof id === "string");
    const session = this.#projectId(String(all[0]!["session_id"]));
    if (this.#empty.has(session)) return new Map();
    const filter = runs.length > 0 ? runs.map((id) => `run=${id}`).join("&") : `session=${session}&level=session`;
    const known = new Map<string, Fields>();
    for (let offset = 0; ; offset += 100) {
      const path = `${V1}/feedback?limit=100&offset=${offset}&${filter}`;
      const page = await this.#server.send<Fields[]>("GET", path);
      for (const each of page) known.set(String(each["id"]), each);
      if (page.length < 100) return known;
    }
  }
}

interface RunHead {
  id: string;
  session_id: string;
  end_time: string | null;
  status: string;
}

const STATUSES = new Set(["pending", "success", "error", "interrupted"]);

const isRefusal = (error: unknown): error is RejectedError =>
  error instanceof RejectedError && [400, 404, 409, 413, 422].includes(error.status);

export const part = (content: string | Buffer, type: string): Blob => new Blob([content as BlobPart], { type });

export const pick = (value: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(
    names.filter((name) => value[name] !== undefined && value[name] !== null).map((name) => [name, value[name]]),
  );

const PROJECT_FIELDS = `id name description start_time end_time extra reference_dataset_id default_dataset_id trace_tier
  num_examples num_repetitions evaluator_keys retention_days`.split(/\s+/);

/** What a change of feedback changes; servers set its time themselves. */
const judgement = (feedback: Fields): Fields =>
  pick(feedback, ["id", "key", "score", "value", "comment", "correction"]);

const FEEDBACK_FIELDS = `id key run_id trace_id start_time score value comment correction feedback_source
  feedback_group_id extra created_at modified_at`.split(/\s+/);

const priceContent = (price: Fields): Fields =>
  pick(
    price,
    "name start_time match_path match_pattern provider prompt_cost completion_cost prompt_cost_details completion_cost_details".split(
      " ",
    ),
  );
