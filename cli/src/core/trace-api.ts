import { setTimeout as sleep } from "node:timers/promises";

import { describeFailure, messageIn, parseBaseUrl, RejectedError } from "./reach.ts";
import { isUuid } from "./uuid.ts";

/** Fields of an export that commands read. */
export interface ExportOnWire {
  id: string;
  status: string;
  error: string | null;
  start_time: string;
  end_time: string | null;
  interval_hours: number | null;
  progress: {
    rows_total: number | null;
    rows_written: number;
    bytes_written: number;
    percent: number;
    estimated_end: string | null;
  };
}

/** Deletion of traces, a project or a workspace. */
export interface ErasureOnWire {
  id: string;
  scope: string;
  session_ids: string[] | null;
  traces: number | null;
  status: string;
  requested_at: string;
  deleted_at: string | null;
  done_at: string | null;
  error: string | null;
}

/** The platform does not answer, or is temporarily unavailable. */
class UnavailableError extends Error {
  override name = "UnavailableError";
}

/** A tool that failed; the message tells what to change. */
class ToolFailure extends Error {
  override name = "ToolFailure";
}

const MCP_PATH = "/mcp";

/** Client of the trace platform over HTTP. Errors carry the platform's message. */
export class TraceApi {
  readonly #base: string;
  /** For paths that begin with `/v1/platform`, which the contract has beside `/api/v1`. */
  readonly #root: string;
  readonly #key: string | undefined;
  readonly #workspace: string | undefined;
  #workspaceId: Promise<string> | undefined;

  /** @param workspace id or name; absent: the key's own */
  constructor(url: string, key: string | undefined, workspace?: string) {
    this.#root = parseBaseUrl(url).replace(/\/api\/v1$/, "");
    this.#base = `${this.#root}/api/v1`;
    this.#key = key;
    this.#workspace = workspace;
  }

  async send<T>(method: string, path: string, body?: object): Promise<T> {
    return JSON.parse(await this.sendText(method, path, body && JSON.stringify(body))) as T;
  }

  /**
   * Calls a tool of the platform's MCP server, which translates plain filters and shortens values. Returns its
   * structured result. @throws RejectedError with the tool's message
   */
  async callTool<T>(name: string, input: object): Promise<T> {
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: input } };
    const { result, error } = await this.send<{
      result?: { isError?: boolean; content: { text: string }[]; structuredContent: T };
      error?: { message: string };
    }>("POST", MCP_PATH, message);
    if (error || !result) throw new RejectedError(400, error?.message ?? "The answer is not one of MCP.");
    if (result.isError) throw new ToolFailure(result.content[0]?.text ?? "The tool failed.");
    return result.structuredContent;
  }

  async #findWorkspace(idOrName: string): Promise<string> {
    if (isUuid(idOrName)) return idOrName;
    const all = await new TraceApi(this.#root, this.#key).send<{ id: string; display_name: string }[]>(
      "GET",
      "/workspaces",
    );
    const found = all.filter(({ display_name: name }) => name === idOrName);
    if (found.length === 1) return found[0]!.id;
    const names = all.map(({ id, display_name: name }) => `${name} (${id})`).join(", ");
    throw new Error(
      found.length > 1
        ? `${found.length} workspaces have the name "${idOrName}". Name one by its id: ${names}.`
        : `The key enters no workspace "${idOrName}". It enters: ${names}.`,
    );
  }

  /** Sends JSON text as it is. Returns the JSON text of the answer. */
  async sendText(method: string, path: string, body?: string): Promise<string> {
    const workspace =
      this.#workspace === undefined ? undefined : (this.#workspaceId ??= this.#findWorkspace(this.#workspace));
    const workspaceId = await workspace;
    let response: Response;
    const isAtRoot = path === MCP_PATH || path.startsWith("/v1/platform/");
    try {
      response = await fetch((isAtRoot ? this.#root : this.#base) + path, {
        method,
        headers: {
          "Content-Type": "application/json",
          Accept: "application/json, text/event-stream",
          ...(this.#key !== undefined && { "x-api-key": this.#key }),
          ...(workspaceId !== undefined && { "X-Tenant-Id": workspaceId }),
        },
        ...(body !== undefined && { body }),
      });
    } catch (error) {
      const message = `There is no trace platform at ${this.#base}. Name it with --url. (${describeFailure(error)})`;
      throw new UnavailableError(message, { cause: error });
    }
    const text = await response.text();
    if (response.status >= 500) throw new UnavailableError(`${response.status} ${messageIn(text)}`);
    if (!isJson(text))
      throw new Error(`The server at ${this.#base} is not a trace platform. Name the trace platform with --url.`);
    if (response.ok) return text;
    const advice = response.status === 401 ? " Pass a key with --api-key or HEDDLE_API_KEY." : "";
    throw new RejectedError(response.status, messageIn(text) + advice);
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const OVER = /^(completed|failed|cancelled|timedout)$/i;
const WIDTH = 30;

/** Longest outage to wait out: an export resumes when the platform is restarted. */
const MAX_UNAVAILABLE_MS = 5 * 60_000;

/** Requests an object again and again; waits out an outage of the platform that answered before. */
async function* poll<T>(api: TraceApi, path: string, everyMs: number): AsyncGenerator<T, never> {
  let answeredAt = Number.NEGATIVE_INFINITY;
  for (; ; await sleep(everyMs)) {
    let current: T;
    try {
      current = await api.send<T>("GET", path);
    } catch (error) {
      if (error instanceof UnavailableError && performance.now() - answeredAt < MAX_UNAVAILABLE_MS) continue;
      throw error;
    }
    answeredAt = performance.now();
    yield current;
  }
}

/** Polls until nothing of an erasure is left on disk; prints a line per status. Takes about ten minutes. */
export async function watchErasure(api: TraceApi, id: string): Promise<ErasureOnWire> {
  let last = "";
  for await (const current of poll<ErasureOnWire>(api, `/erasures/${encodeURIComponent(id)}`, 1000)) {
    const line = erasureLine(current);
    if (line !== last) process.stderr.write(`${line}\n`);
    last = line;
    if (current.status === "done") return current;
  }
  throw new Error("unreachable: polling ends with an error or a result");
}

const ERASURE_STATUS: Record<string, string> = {
  pending: "is being deleted",
  deleted: "cannot be read any more; waiting until it has left the disk",
  done: "has left the disk",
};

export const erasureLine = ({ id, status, error }: ErasureOnWire): string =>
  `Erasure ${id} ${ERASURE_STATUS[status] ?? status}${error === null ? "" : ` (${error})`}`;

/** @throws when there is no project of this name */
export async function resolveProject(api: TraceApi, idOrName: string): Promise<string> {
  if (isUuid(idOrName)) return idOrName;
  const [project] = await api.send<{ id: string }[]>("GET", `/sessions?name=${encodeURIComponent(idOrName)}`);
  if (project) return project.id;
  throw new Error(`There is no project "${idOrName}".`);
}

/** Polls each half second until the export ends; shows a bar on a terminal, a line per status elsewhere. */
export async function watch(api: TraceApi, id: string): Promise<ExportOnWire> {
  const { isTTY } = process.stderr;
  let last = "";
  for await (const current of poll<ExportOnWire>(api, `/bulk-exports/${encodeURIComponent(id)}`, 500)) {
    if (isTTY) process.stderr.write(`\r\x1b[K${progressLine(current)}`);
    else if (current.status !== last) process.stderr.write(`${progressLine(current)}\n`);
    last = current.status;
    if (OVER.test(current.status)) {
      if (isTTY) process.stderr.write("\n");
      return current;
    }
    if (current.interval_hours !== null) throw new Error("This is a schedule, which has no end to wait for.");
  }
  throw new Error("unreachable: polling ends with an error or a result");
}

export function progressLine({ status, progress }: ExportOnWire): string {
  const { percent, rows_written, rows_total, bytes_written, estimated_end } = progress;
  const filled = Math.round((percent / 100) * WIDTH);
  const bar = `[${"#".repeat(filled)}${" ".repeat(WIDTH - filled)}]`;
  const rows = rows_total === null ? "" : `, ${rows_written} of ${rows_total} rows`;
  const end = estimated_end === null ? "" : `, until ${estimated_end.slice(11, 19)} UTC`;
  return `${bar} ${percent} % ${status}${rows}, ${(bytes_written / 1e6).toFixed(1)} MB${end}`;
}
