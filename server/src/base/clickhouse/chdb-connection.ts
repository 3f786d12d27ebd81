import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";

import { type ClickHouseClientConfigOptions, type ClickHouseSettings, parseError } from "@clickhouse/client";
import type { RawInsertFormat, Session } from "chdb";

import { AnswerMemory } from "./answer-memory.ts";
import type { ChdbSessions } from "./chdb-sessions.ts";
import { REPEATABLE } from "./clickhouse.ts";
import { type Param, paramLiteral, sqlLiteral } from "./format-param.ts";

type Connection = NonNullable<ClickHouseClientConfigOptions["connection"]>;
type Insert = Parameters<Connection["insert"]>[0];
type Exec = Parameters<Connection["exec"]>[0];
interface Prepared {
  text: string;
  settings: object;
  /** Settings as assignments. */
  own: string[];
  format: unknown;
  /** Whether it can end with its settings. */
  isQuery: boolean;
}
interface Statement {
  query: string;
  clickhouse_settings?: ClickHouseSettings;
  query_params?: Record<string, unknown>;
}

/**
 * Exposes chDB as a connection of ClickHouse's own client, so that all callers use one client.
 *
 * chDB's own client was rejected: it leaks settings of one statement into later ones, runs statements with parameters
 * strictly one after another, and copies inserted data through strings. Here parameters become literals of their types,
 * and a query ends with its settings: setting one on the session took 0.2 ms.
 */
export class ChdbConnection implements Connection {
  readonly #sessions: ChdbSessions;
  readonly #answers = new AnswerMemory();
  /** Changed settings of a session, which its next statement restores. */
  readonly #changed = new WeakMap<Session, string[]>();

  constructor(sessions: ChdbSessions) {
    this.#sessions = sessions;
  }

  async query(statement: Statement): ReturnType<Connection["query"]> {
    return { ...base(), stream: Readable.from([await this.#run("read", statement)], { objectMode: false }) };
  }

  async command(statement: Statement): ReturnType<Connection["command"]> {
    await this.#run("write", statement);
    return base();
  }

  async exec(statement: Exec): ReturnType<Connection["exec"]> {
    if (statement.values) {
      await this.insert({ ...statement, values: statement.values });
      return { ...base(), stream: Readable.from([]) };
    }
    return { ...base(), stream: Readable.from([await this.#run("write", statement)], { objectMode: false }) };
  }

  async insert({ query, values, clickhouse_settings }: Insert): ReturnType<Connection["insert"]> {
    const parts = /^insert into (\S+) \(([^)]*)\) format (\w+)$/i.exec(query);
    if (!parts) throw new Error(`chDB does not support this insert: ${query}`);
    const payload = typeof values === "string" ? Buffer.from(values) : await collect(values);
    if (payload.length === 0) return base();
    await this.#answers.write(() =>
      this.#sessions.use("write", async (session) =>
        translated(
          session.insert({
            table: parts[1]!,
            columns: parts[2]!.split(",").map((name) => name.trim()),
            values: payload,
            format: parts[3]! as RawInsertFormat,
            settings: definedSettings(clickhouse_settings),
          }),
        ),
      ),
    );
    return base();
  }

  async ping(): ReturnType<Connection["ping"]> {
    try {
      await this.#run("read", { query: "select 1" });
      return { success: true };
    } catch (error) {
      return { success: false, error: error as Error };
    }
  }

  close(): Promise<void> {
    return this.#sessions.close();
  }

  #run(kind: "read" | "write", { query, query_params = {}, clickhouse_settings }: Statement): Promise<Uint8Array> {
    const settings = definedSettings(clickhouse_settings);
    const format = settings["default_format"];
    delete settings["default_format"];
    const isRepeatable = settings[REPEATABLE] !== undefined;
    delete settings[REPEATABLE];
    const text = withLiterals(query, query_params);
    const own = Object.entries(settings).map(([name, value]) => `${name} = ${settingLiteral(value)}`);
    // other statements have no such clause
    const isQuery = kind === "read" && own.length > 0 && SELECT.test(text);
    const execute = () => this.#execute(kind, { text, own, settings, format, isQuery });
    if (kind === "write") return this.#answers.write(execute);
    return isRepeatable ? this.#answers.read(JSON.stringify([format, own, text]), execute) : execute();
  }

  #execute(kind: "read" | "write", { text, own, settings, format, isQuery }: Prepared): Promise<Uint8Array> {
    return this.#sessions.use(kind, async (session) => {
      const sets = [
        ...(this.#changed.get(session) ?? []).map((name) => `set ${name} = default; `),
        ...(isQuery ? [] : own.map((setting) => `set ${setting}; `)),
      ];
      this.#changed.set(session, isQuery ? [] : Object.keys(settings));
      const statement = sets.join("") + text + (isQuery ? ` settings ${own.join(", ")}` : "");
      const result = await translated(
        session.queryAsync(statement, { format: typeof format === "string" ? format : "JSONEachRow" }),
      );
      return result.bytes();
    });
  }
}

const base = () => ({ query_id: randomUUID(), response_headers: {}, http_status_code: 200 });

/** Settings of the HTTP interface, unknown to an embedded engine. */
const HTTP_ONLY = new Set(["wait_end_of_query", "send_progress_in_http_headers", "enable_http_compression"]);

function definedSettings(settings: ClickHouseSettings = {}): Record<string, string | number | boolean> {
  const known = Object.entries(settings).filter(([name, value]) => value !== undefined && !HTTP_ONLY.has(name));
  return Object.fromEntries(known) as Record<string, string | number | boolean>;
}

const settingLiteral = (value: string | number | boolean): string =>
  typeof value === "string" ? sqlLiteral(value) : String(Number(value));

/** Statements that can end with settings; ours end with none themselves. */
const SELECT = /^\s*(?:\/\*[^*]*\*\/\s*)?(?:select|with)\b/i;

/** Replaces `{name:Type}` by literals. A missing value is an error. */
const withLiterals = (query: string, values: Record<string, unknown>): string =>
  query.replace(/\{(\w+):([^{}]+)\}/g, (_, name: string, type: string) => {
    if (values[name] === undefined) throw new Error(`the query needs the parameter ${name}, which was not passed`);
    return paramLiteral(values[name] as Param, type);
  });

async function collect(stream: Readable): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(typeof chunk === "string" ? Buffer.from(chunk) : (chunk as Buffer));
  return chunks.length === 1 && Buffer.isBuffer(chunks[0]) ? chunks[0] : Buffer.concat(chunks);
}

/** Translates chDB's errors to those of the client, with `code` and `type`. */
async function translated<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const known = parseError((error as Error).message);
    known.cause = error;
    throw known;
  }
}
