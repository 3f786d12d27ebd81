import { ConfigError } from "../../base/config/options.ts";
import type { Sql } from "../../base/db/connect.ts";
import type { Log } from "../../base/log.ts";
import type { Project } from "../project/read-project.ts";
import { isPythonEmbedder, type PythonCode } from "../python-code/python-code.ts";
import { loadEmbedder, type Embedder } from "./load-embedder.ts";
import { findVectorSchema, installVector, type ItemKey, type ItemPut } from "./sql.ts";
import { SemanticIndex } from "./semantic-index.ts";

export interface NewItem extends ItemKey {
  /** null deletes. */
  value: unknown;
  index?: false | string[] | null | undefined;
  /** Minutes; null: does not expire; undefined: langgraph.json's default. */
  ttl?: number | null | undefined;
}

/** The `store` section of langgraph.json. One instance per server, reconfigured when the project changes. */
export class StoreRules {
  /** Null: no semantic search. */
  index: SemanticIndex | null = null;
  /** Minutes, for items put without a time to live. */
  #defaultTtl: number | null = null;
  readonly #python: PythonCode | null;
  refreshOnRead = true;
  sweepMinutes = 5;

  /** @param python null: the project has no Python code */
  constructor(python: PythonCode | null = null) {
    this.#python = python;
  }

  /**
   * Applies the project's settings.
   * @throws ConfigError when the embedding function cannot be loaded; nothing has changed then
   */
  async configure(sql: Sql, project: Project, log: Log): Promise<void> {
    const { index, ttl } = project.config.store ?? {};
    this.index = index ? await openIndex(sql, project, index, { log, python: this.#python }) : null;
    this.#defaultTtl = ttl?.default_ttl ?? null;
    this.refreshOnRead = ttl?.refresh_on_read ?? true;
    this.sweepMinutes = ttl?.sweep_interval_minutes ?? 5;
  }

  /** Adds time to live and vectors. May call the project's code, so never within a transaction. */
  async prepare(items: NewItem[]): Promise<ItemPut[]> {
    const vectors = await this.index?.embedItems(items);
    return items.map(({ namespace, key, value, ttl }, i) => ({
      namespace,
      key,
      value,
      ttl_minutes: ttl === undefined ? this.#defaultTtl : ttl,
      vectors: vectors?.[i] ?? null,
    }));
  }
}

type IndexConfig = NonNullable<NonNullable<Project["config"]["store"]>["index"]>;

async function openIndex(
  sql: Sql,
  project: Project,
  config: IndexConfig,
  { log, python }: { log: Log; python: PythonCode | null },
): Promise<SemanticIndex> {
  const { embed: model, dims } = config;
  const embedder =
    python && isPythonEmbedder(model, project.graphs) ? pythonEmbedder(python) : await loadEmbedder(project, model);
  let vectorSchema = await findVectorSchema(sql);
  if (vectorSchema === null) {
    await installVector(sql).catch((error: unknown) =>
      log.info({ err: error }, "the database has no pgvector; vectors of the store are compared without an index"),
    );
    vectorSchema = await findVectorSchema(sql);
  }
  // above the limit of pgvector's type
  if (dims > 16_000) vectorSchema = null;
  try {
    return new SemanticIndex({ embedder, model, dims, fields: config.fields ?? ["$"], vectorSchema });
  } catch (error) {
    throw new ConfigError(`store.index.fields: ${(error as Error).message}`);
  }
}

/** The embedding function of the project's Python code. */
const pythonEmbedder = (python: PythonCode): Embedder => ({
  documents: (texts) => python.embed(texts, false),
  query: async (text) => (await python.embed([text], true))[0]!,
});
