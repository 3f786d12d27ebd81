/**
 * Secrets of a conformance run, and the search for them when a server stops: no key, token or password that was sent to
 * it, or that it has made for itself, is in its databases, files, logs, metrics, spans or archives, in any encoding.
 */
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import postgres from "postgres";

import { SENT } from "./sent.ts";

const repository = fileURLToPath(new URL("..", import.meta.url));

/** Keys of Heddle in plain text, from any source; listings show fewer digits. */
const KEY_PATTERN = String.raw`lsv2_(sk|pt)_[0-9a-f]{24}|heddle_(session|csrf)_[0-9a-f]{32}`;

/** Keys, sessions, credentials of headers and passwords in URLs, as a log might have them. */
const LOGGED_PATTERN =
  /(?:lsv2_(?:pt|sk)|heddle_session)_[0-9a-f]{16}|(?:bearer|basic) [\w.=+/-]{12}|:\/\/[^:/\s]+:[^@/\s]+@/i;

export interface SearchedServer {
  directory: string;
  pid: number;
  urls: readonly string[];
  /** File with the spans that the server has exported. */
  spans?: string;
  /** Whether a backup is made and searched too. */
  withArchive?: boolean;
}

export interface Search {
  /** Looks at what only a running server shows. */
  running(): Promise<string[]>;
  /** Looks at what it has left behind. `log`: what it has logged. */
  stopped(log: string): Promise<string[]>;
}

/** Prepares the search while the server runs; its own secrets are in the environments of its processes. */
export function searchSecrets({ directory, pid, urls, spans, withArchive = false }: SearchedServer): Search {
  const secrets = new Map<string, string>(Object.entries(SENT));
  const learn = (): void => {
    for (const [name, value] of ownSecrets(directory, pid)) secrets.set(name, value);
  };
  const describe = (place: string, text: string): string[] =>
    [...secrets]
      .filter(([, value]) => encodings(value).some((form) => text.includes(form)))
      .map(([name]) => `${name} is in ${place}`);
  return {
    async running() {
      learn();
      const leaks = await searchDatabases(directory, secrets);
      for (const url of urls) {
        const metrics = await fetch(`${url}/metrics`).then(
          (response) => response.text(),
          () => "",
        );
        leaks.push(...describe(`the metrics of ${url}`, metrics));
      }
      if (withArchive) leaks.push(...(await searchArchive(directory, secrets)));
      return leaks;
    },
    async stopped(log) {
      const traces = readTraceStore(directory);
      const suspicious = log.split("\n").filter((line) => LOGGED_PATTERN.test(line));
      return [
        ...suspicious.slice(0, 5).map((line) => `the log has a secret: ${line.slice(0, 500)}`),
        ...describe("the log", log),
        ...(spans === undefined ? [] : grep(spans, secrets).map(() => "a secret is in the exported spans")),
        ...describe("the trace store", traces),
        ...searchFiles(directory, secrets),
      ];
    },
  };
}

/** Throws when text that left the suite's servers, such as a webhook's or a span's, holds what was sent to them. */
export function rejectSent(place: string, text: string): void {
  const found = Object.entries(SENT).filter(([, value]) => encodings(value).some((form) => text.includes(form)));
  if (found.length > 0) throw new Error(`${place} contains ${found.map(([name]) => name).join(", ")}`);
}

/** A text as it is, in hex (as Postgres shows bytes) and in base64 at each offset. */
function encodings(text: string): string[] {
  const base64 = [0, 1, 2].map((offset) => {
    const whole = Buffer.from("\0".repeat(offset) + text).toString("base64");
    // characters that depend on the neighbours are left out
    return whole.slice(Math.ceil((offset * 4) / 3), whole.length - 4);
  });
  return [text, Buffer.from(text).toString("hex"), ...base64];
}

/** Names of variables that hold secrets; values that the suite's own environment has are not of this server. */
const SECRET_VARIABLE = /KEY|TOKEN|SECRET|PASSWORD|PASSPHRASE/;
const MIN_LENGTH = 16;

function ownSecrets(directory: string, pid: number): Map<string, string> {
  const found = new Map<string, string>();
  for (const process_ of listProcesses(pid)) {
    for (const pair of readEnvironment(process_)) {
      const at = pair.indexOf("=");
      const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
      const isOwn = SECRET_VARIABLE.test(name) && value.length >= MIN_LENGTH && process.env[name] !== value;
      if (isOwn && !value.startsWith("/")) found.set(`the variable ${name}`, value);
    }
  }
  const password = join(directory, "postgres", "password");
  if (existsSync(password)) found.set("the database's password", readFileSync(password, "utf8").trim());
  return found;
}

function listProcesses(root: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const status = readFileSync(`/proc/${name}/stat`, "utf8");
      parents.set(Number(name), Number(/^\d+ \(.*\) \S (\d+)/s.exec(status)?.[1]));
    } catch {
      // it has exited
    }
  }
  const found = [root];
  for (let n = 0; n < found.length; n++) {
    for (const [pid, parent] of parents) if (parent === found[n]) found.push(pid);
  }
  return found;
}

function readEnvironment(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return [];
  }
}

/** Every row of every table of every database, as text. */
async function searchDatabases(directory: string, secrets: ReadonlyMap<string, string>): Promise<string[]> {
  const files = ["port", "password"].map((name) => join(directory, "postgres", name));
  if (!files.every((file) => existsSync(file))) return [];
  const [port, password] = files.map((file) => readFileSync(file, "utf8").trim());
  const open = (database: string) =>
    postgres({
      host: "127.0.0.1",
      port: Number(port),
      user: "heddle",
      password: password!,
      database,
      max: 1,
      onnotice: () => {},
    });
  const leaks: string[] = [];
  const forms = [...secrets].flatMap(([name, value]) => encodings(value).map((form) => ({ name, form })));
  const main = open("heddle");
  const databases = await main<
    { datname: string }[]
  >`select datname from pg_database where datallowconn and not datistemplate`;
  await main.end();
  for (const { datname } of databases) {
    const sql = open(datname);
    const tables = await sql<{ name: string }[]>`
      select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p', 'm') and n.nspname not in ('pg_catalog', 'information_schema')`;
    for (const { name } of tables) {
      const rows = await sql.unsafe<{ n: number | null; key: string | null }[]>(
        `with lines as materialized (select t::text as line from ${name} t)
         select n::int, null as key from unnest($1::text[]) with ordinality as forms(form, n)
         where exists (select 1 from lines where strpos(line, form) > 0)
         union all
         select null, (select line from lines where line ~ $2 limit 1)`,
        [forms.map(({ form }) => form), KEY_PATTERN],
      );
      for (const { n, key } of rows) {
        if (n !== null) leaks.push(`${forms[n - 1]!.name} is in table ${datname}.${name}`);
        if (key !== null) leaks.push(`a key is in table ${datname}.${name}: ${key.slice(0, 300)}`);
      }
    }
    await sql.end();
  }
  return leaks;
}

/** Rows of the embedded trace store, which only one process at a time can open. */
function readTraceStore(directory: string): string {
  const path = join(directory, "chdb");
  if (!existsSync(path)) return "";
  const script = fileURLToPath(new URL("read-trace-store.mjs", import.meta.url));
  const { stdout, stderr, status } = spawnSync(process.execPath, [script, path], { encoding: "utf8", maxBuffer: 1e9 });
  if (status !== 0) throw new Error(`the trace store could not be read: ${stderr.slice(-1000)}`);
  return stdout;
}

/** Files in which a server keeps secrets on purpose, readable by it alone. */
const KEEPERS = new Set(["postgres/password", "secrets.keys", "tracing.key"]);

function searchFiles(directory: string, secrets: ReadonlyMap<string, string>): string[] {
  return grep(directory, secrets)
    .filter((file) => !KEEPERS.has(file.slice(directory.length + 1)))
    .map((file) => `a secret is in the file ${file}`);
}

function grep(directory: string, secrets: ReadonlyMap<string, string>): string[] {
  const patterns = [...secrets.values()].flatMap((value) => encodings(value));
  const { stdout, status, stderr } = spawnSync("grep", ["-rlaF", "-f", "-", directory], {
    input: `${patterns.join("\n")}\n`,
    encoding: "utf8",
    maxBuffer: 1e8,
  });
  // 1: nothing was found; 2: a file was removed meanwhile
  if (status === null) throw new Error(`grep failed: ${stderr}`);
  return stdout.split("\n").filter((line) => line !== "");
}

/** What `heddle backup` writes. */
async function searchArchive(directory: string, secrets: ReadonlyMap<string, string>): Promise<string[]> {
  const work = mkdtempSync(join(tmpdir(), "heddle-archive-"));
  const archive = join(work, "archive.tar");
  try {
    const env = { ...process.env, HEDDLE_BACKUP_PASSPHRASE: "a passphrase of the suite" };
    const args = ["cli/bin/heddle.js", "backup", archive, "--data-dir", directory];
    await promisify(execFile)(process.execPath, args, { cwd: repository, env });
    execFileSync("tar", ["-xf", archive, "-C", work]);
    rmSync(archive);
    spawnSync("find", [work, "-name", "*.gz", "-exec", "gunzip", "{}", "+"]);
    return grep(work, secrets).map((file) => `a secret is in the backup: ${file.slice(work.length + 1)}`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
