import type { Context } from "hono";

import { AppError, forbidden, notFound } from "../../base/errors.ts";
import {
  answerRpc,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  rpcAnswer,
  RpcError,
  rpcParams,
  type RpcRequest,
  rpcResult,
} from "../../base/http/json-rpc.ts";
import { rawJson } from "../../base/http/route.ts";
import { slowJson } from "../../base/http/slow-json.ts";
import { readVersion } from "../../base/version.ts";
import { agentRoute, type AgentRoute } from "../custom-auth/agent-route.ts";
import type { AgentDeps } from "../deps.ts";
import type { Caller } from "./caller.ts";
import { callParams, initializeParams, listParams } from "./schema.ts";
import { callTool, listTools } from "./tools.ts";

/** Newest first: the first one is offered to a client that asks for an unknown version. */
const VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const JSON_TYPE = "application/json";
const SSE = "text/event-stream";

/** The Model Context Protocol over streamable HTTP, without sessions (contract agent-server §13). */
export function mcpRoutes(deps: AgentDeps): AgentRoute[] {
  const base = { tag: "MCP", path: "/mcp", aliases: ["/mcp/"], permission: "assistants:read" as const };
  const version = readVersion();

  const protocol = {
    log: deps.log,
    name: "MCP",
    check: checkHeaders,
    // notifications and responses need no action
    notified: (c: Context) => c.body(null, 202),
  };

  async function call({ id, method, params }: RpcRequest, caller: Caller): Promise<Response> {
    switch (method) {
      case "initialize": {
        const { protocolVersion: requestedVersion } = rpcParams(initializeParams, params);
        const protocolVersion = VERSIONS.includes(requestedVersion) ? requestedVersion : VERSIONS[0];
        const serverInfo = { name: "heddle", version };
        return rawJson(rpcResult(id, { protocolVersion, capabilities: { tools: {} }, serverInfo }));
      }
      case "ping":
        return rawJson(rpcResult(id, {}));
      case "tools/list":
        return rawJson(rpcResult(id, await listTools(deps, caller, rpcParams(listParams, params).cursor)));
      case "tools/call": {
        const { name, arguments: input } = rpcParams(callParams, params);
        if (!caller.principal.permissions.has("runs:create")) {
          throw forbidden("Forbidden: the permission runs:create is required.");
        }
        const { result, cancel } = await callTool(deps, caller, name, input ?? {});
        return slowJson(
          result.then((value) => rpcResult(id, value)),
          { onDisconnect: cancel },
        );
      }
      default:
        throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${method}`);
    }
  }

  return [
    agentRoute({
      ...base,
      method: "POST",
      audit: "data",
      auth: "handler",
      summary: "Send a message of the Model Context Protocol; assistants are its tools",
      reads: [JSON_TYPE],
      out: { 200: rpcAnswer, 202: null, 400: rpcAnswer },
      errors: [413],
      handler: ({ c, principal }) =>
        answerRpc(c, protocol, (request) => call(request, { principal, headers: c.req.raw.headers })),
    }),
    agentRoute({
      ...base,
      method: "GET",
      auth: "handler",
      summary: "Answer 405: the server does not initiate messages",
      out: {},
      errors: [405],
      handler() {
        throw new AppError(405, "Method Not Allowed: POST messages here.", { headers: { Allow: "POST" } });
      },
    }),
    agentRoute({
      ...base,
      method: "DELETE",
      audit: "none",
      auth: "handler",
      summary: "Answer 404: the server is stateless and has no sessions",
      out: {},
      errors: [404],
      handler() {
        throw notFound("This server is stateless and has no sessions.");
      },
    }),
  ];
}

function checkHeaders(c: Context): void {
  const accepted = c.req.header("accept") ?? "";
  if (!accepted.includes(JSON_TYPE) || !accepted.includes(SSE)) {
    throw new RpcError(INVALID_REQUEST, `The Accept header must include both ${JSON_TYPE} and ${SSE}.`);
  }
  const version = c.req.header("mcp-protocol-version");
  if (version !== undefined && !VERSIONS.includes(version)) {
    throw new RpcError(
      INVALID_REQUEST,
      `Unsupported protocol version "${version}". Supported: ${VERSIONS.join(", ")}.`,
    );
  }
}
