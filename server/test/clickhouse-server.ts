import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer as readBuffer, text as readText } from "node:stream/consumers";

import type { Session } from "chdb";

import { ChdbSessions } from "../src/base/clickhouse/chdb-sessions.ts";
import { sqlLiteral } from "../src/base/clickhouse/format-param.ts";

/** Starts such a server with its own engine, for platforms in other processes. */
export async function startClickHouseServer(directory: string): Promise<{ url: string; stop(): Promise<void> }> {
  const sessions = await ChdbSessions.open({
    directory,
    database: "default",
    connections: 4,
    settings: {},
    maxMemory: 1024 ** 3,
  });
  const { url, server } = await clickHouseServer(sessions);
  return {
    url,
    async stop() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      await sessions.close();
    },
  };
}

/**
 * HTTP interface of a ClickHouse server, as far as ClickHouse's client uses it, in front of a real engine: for tests of
 * requests to a server where none can be installed. Supports no users, replication or cluster.
 */
export async function clickHouseServer(
  sessions: ChdbSessions,
  /** Called with each statement, without inserted data, and its parameters and settings. */
  onStatement?: (query: string, given: URLSearchParams) => void,
): Promise<{ url: string; server: Server; queries: string[] }> {
  const queries: string[] = [];
  const server = createServer((request, response) => {
    answer(request).then(
      (body) => response.end(body),
      (error: Error) => {
        const code = /Code: (\d+)/.exec(error.message)?.[1] ?? "0";
        response.writeHead(code === "81" ? 404 : 500, { "X-ClickHouse-Exception-Code": code }).end(error.message);
      },
    );
  });
  const answer = async (request: IncomingMessage): Promise<Uint8Array | string> => {
    const { pathname, searchParams } = new URL(request.url!, "http://server");
    if (pathname === "/ping") return "Ok.\n";
    const type = request.headers["content-type"] ?? "";
    const body = type.startsWith("multipart/form-data")
      ? await readForm(request, type, searchParams)
      : await readText(request);
    const given = searchParams.get("query");
    const query = given === null ? body : `${given}\n${body}`;
    queries.push(given ?? body);
    onStatement?.(given ?? body, searchParams);
    return sessions.use("write", (session) => run(session, query, searchParams));
  };
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, queries };
}

/** The client sends large parameters as a form. */
async function readForm(request: IncomingMessage, type: string, given: URLSearchParams): Promise<string> {
  const form = await new Response(await readBuffer(request), { headers: { "content-type": type } }).formData();
  let query = "";
  for (const [name, value] of form) {
    if (name === "query") query = String(value);
    else given.set(name, String(value));
  }
  return query;
}

const NOT_SETTINGS = new Set(["query", "query_id", "database", "wait_end_of_query", "session_id", "role"]);

async function run(session: Session, query: string, given: URLSearchParams): Promise<Uint8Array> {
  const database = given.get("database") ?? "default";
  const sets = [`use \`${database}\``];
  for (const [name, value] of given) {
    if (name.startsWith("param_") || !NOT_SETTINGS.has(name)) sets.push(`set ${name} = ${sqlLiteral(value)}`);
  }
  const result = await session.queryAsync(`${sets.join("; ")}; ${query}`, { format: "TabSeparated" });
  return result.bytes();
}
