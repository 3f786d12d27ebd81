import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";

import type { Session } from "chdb";

import type { ChdbSessions } from "../src/base/clickhouse/chdb-sessions.ts";
import { sqlLiteral } from "../src/base/clickhouse/format-param.ts";

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
    const body = await readText(request);
    // large parameters
    if (type.startsWith("multipart/form-data")) {
      const fields = await new Response(body, { headers: { "content-type": type } }).formData();
      for (const [name, value] of fields)
        searchParams.set(name, typeof value === "string" ? value : await value.text());
      const query = searchParams.get("query")!;
      queries.push(query);
      onStatement?.(query, searchParams);
      return sessions.use("write", (session) => run(session, query, searchParams));
    }
    const given = searchParams.get("query");
    const query = given === null ? body : `${given}\n${body}`;
    queries.push(given ?? body);
    onStatement?.(given ?? body, searchParams);
    return sessions.use("write", (session) => run(session, query, searchParams));
  };
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, queries };
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
