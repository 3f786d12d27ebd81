/**
 * The Model Context Protocol over streamable HTTP, without sessions: the transport that every MCP server of Heddle
 * shares. Two eras of the protocol are served side by side. `2026-07-28` describes each request in `_meta` and mirrors
 * parts of it in headers, which must agree; older revisions begin with `initialize`, of which nothing is kept.
 */
import type { Context } from "hono";
import { z } from "zod";

import { AppError, notFound } from "../errors.ts";
import type { Log } from "../log.ts";
import { jsonObject } from "./fields.ts";
import {
  answerRpc,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  RpcError,
  rpcParams,
  type RpcRequest,
  rpcResult,
} from "./json-rpc.ts";
import { rawJson } from "./route.ts";
import { slowJson } from "./slow-json.ts";

/** Revisions in which each request describes itself. */
const MODERN = ["2026-07-28"];
/** Revisions with a handshake, newest first: the first one is offered to a client that asks for an unknown version. */
const LEGACY = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const VERSIONS = [...MODERN, ...LEGACY];

/** Codes of revision 2026-07-28. */
const HEADER_MISMATCH = -32020;
const UNSUPPORTED_VERSION = -32022;

const META = "io.modelcontextprotocol/";
const JSON_TYPE = "application/json";
const SSE = "text/event-stream";

const initializeParams = z.object({ protocolVersion: z.string() }).loose();
const listParams = z.object({ cursor: z.string().nullish() }).loose();
const callParams = z.object({ name: z.string(), arguments: jsonObject.nullish() }).loose();

export interface McpServer<C> {
  log: Log;
  version: string;
  /** Guidance for models on how to use the server. */
  instructions?: string;
  listTools(caller: C, cursor: string | null | undefined): Promise<object>;
  callTool(caller: C, name: string, input: Record<string, unknown>): Promise<McpCall>;
}

export interface McpCall {
  /** Never rejects. */
  result: Promise<object>;
  /** Called when the client disconnects before the result is ready. */
  cancel?: () => void;
}

/** Answers one message. */
export function answerMcp<C>(c: Context, server: McpServer<C>, caller: C): Promise<Response> {
  const protocol = {
    log: server.log,
    name: "MCP",
    check: checkAccept,
    // notifications and responses need no action
    notified: () => c.body(null, 202),
  };
  return answerRpc(c, protocol, (request) => {
    const isModern = checkVersion(c, request);
    return answer(server, request, caller, isModern);
  });
}

async function answer<C>(
  server: McpServer<C>,
  { id, method, params }: RpcRequest,
  caller: C,
  isModern: boolean,
): Promise<Response> {
  const serverInfo = { name: "heddle", version: server.version };
  const complete = (result: object): string => rpcResult(id, isModern ? { resultType: "complete", ...result } : result);
  /** What a caller sees depends on its permissions. */
  const cacheable = (result: object): string =>
    complete(isModern ? { ...result, ttlMs: 60_000, cacheScope: "private" } : result);
  const about = {
    capabilities: { tools: {} },
    ...(server.instructions !== undefined && { instructions: server.instructions }),
  };
  switch (method) {
    case "initialize": {
      const { protocolVersion: requested } = rpcParams(initializeParams, params);
      const protocolVersion = LEGACY.includes(requested) ? requested : LEGACY[0];
      return rawJson(rpcResult(id, { protocolVersion, serverInfo, ...about }));
    }
    case "server/discover":
      return rawJson(
        cacheable({ supportedVersions: VERSIONS, ...about, _meta: { [`${META}serverInfo`]: serverInfo } }),
      );
    case "ping":
      return rawJson(complete({}));
    case "tools/list":
      return rawJson(cacheable(await server.listTools(caller, rpcParams(listParams, params).cursor)));
    case "tools/call": {
      const { name, arguments: input } = rpcParams(callParams, params);
      const { result, cancel } = await server.callTool(caller, name, input ?? {});
      return slowJson(result.then(complete), { onDisconnect: cancel });
    }
    default:
      throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${method}`, isModern ? { status: 404 } : {});
  }
}

function checkAccept(c: Context): void {
  const accepted = c.req.header("accept") ?? "";
  if (!accepted.includes(JSON_TYPE) || !accepted.includes(SSE))
    throw new RpcError(INVALID_REQUEST, `The Accept header must include both ${JSON_TYPE} and ${SSE}.`);
}

/**
 * Checks the version that a request names, and whether headers and body agree where the version demands it. Returns
 * whether the request is of a revision without a handshake. @throws RpcError
 */
function checkVersion(c: Context, { method, params }: RpcRequest): boolean {
  const { _meta: meta, name } = (params ?? {}) as { _meta?: Record<string, unknown>; name?: unknown };
  const inBody = meta?.[`${META}protocolVersion`];
  const inHeader = c.req.header("mcp-protocol-version");
  const unknown = [inHeader, inBody].find((version) => version !== undefined && !VERSIONS.includes(version as string));
  if (unknown !== undefined) {
    const data = { supported: VERSIONS, requested: unknown };
    const message = `Unsupported protocol version ${JSON.stringify(unknown)}. Supported: ${VERSIONS.join(", ")}.`;
    throw new RpcError(UNSUPPORTED_VERSION, message, { status: 400, data });
  }
  if (!MODERN.includes(inHeader!) && !MODERN.includes(inBody as string)) return false;
  checkHeader("MCP-Protocol-Version", inHeader, inBody);
  checkHeader("Mcp-Method", c.req.header("mcp-method"), method);
  if (method === "tools/call") checkHeader("Mcp-Name", decoded(c.req.header("mcp-name")), name);
  return true;
}

function checkHeader(header: string, value: string | undefined, inBody: unknown): void {
  if (value !== undefined && value === inBody) return;
  const found = value === undefined ? "is missing" : `value "${value}" does not match the body`;
  throw new RpcError(HEADER_MISMATCH, `Header mismatch: ${header} ${found}.`, { status: 400 });
}

/** Names that a header cannot hold are sent in Base64. */
function decoded(value: string | undefined): string | undefined {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value ?? "")?.[1];
  return encoded === undefined ? value : Buffer.from(encoded, "base64").toString("utf8");
}

/** Answers GET: the server opens no streams. */
export function rejectMcpStream(): never {
  throw new AppError(405, "Method Not Allowed: POST messages here.", { headers: { Allow: "POST" } });
}

/** Answers DELETE, which ends sessions of older revisions. */
export function rejectMcpSession(): never {
  throw notFound("This server is stateless and has no sessions.");
}
