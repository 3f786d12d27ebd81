import { forbidden } from "../../base/errors.ts";
import { rpcAnswer } from "../../base/http/json-rpc.ts";
import { answerMcp, rejectMcpSession, rejectMcpStream } from "../../base/http/mcp.ts";
import { readVersion } from "../../base/version.ts";
import { agentRoute, type AgentRoute } from "../custom-auth/agent-route.ts";
import type { AgentDeps } from "../deps.ts";
import type { Caller } from "./caller.ts";
import { callTool, listTools } from "./tools.ts";

/** Assistants as tools of the Model Context Protocol. */
export function mcpRoutes(deps: AgentDeps): AgentRoute[] {
  const base = { tag: "MCP", path: "/mcp", aliases: ["/mcp/"], permission: "assistants:read" as const };
  const server = {
    log: deps.log,
    version: readVersion(),
    listTools: (caller: Caller, cursor: string | null | undefined) => listTools(deps, caller, cursor),
    async callTool(caller: Caller, name: string, input: Record<string, unknown>) {
      if (!caller.principal.permissions.has("runs:create"))
        throw forbidden("Forbidden: the permission runs:create is required.");
      return callTool(deps, caller, name, input);
    },
  };

  return [
    agentRoute({
      ...base,
      method: "POST",
      audit: "data",
      auth: "handler",
      summary: "Send a message of the Model Context Protocol; assistants are its tools",
      reads: ["application/json"],
      out: { 200: rpcAnswer, 202: null, 400: rpcAnswer },
      errors: [413],
      handler: ({ c, principal }) => answerMcp(c, server, { principal, headers: c.req.raw.headers }),
    }),
    agentRoute({
      ...base,
      method: "GET",
      auth: "handler",
      summary: "Answer 405: the server does not initiate messages",
      out: {},
      errors: [405],
      handler: rejectMcpStream,
    }),
    agentRoute({
      ...base,
      method: "DELETE",
      audit: "none",
      auth: "handler",
      summary: "Answer 404: the server is stateless and has no sessions",
      out: {},
      errors: [404],
      handler: rejectMcpSession,
    }),
  ];
}
