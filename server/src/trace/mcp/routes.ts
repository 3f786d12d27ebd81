import { route, type Route } from "../../base/http/route.ts";
import { answerMcp, rejectMcpSession, rejectMcpStream } from "../../base/http/mcp.ts";
import { rpcAnswer } from "../../base/http/json-rpc.ts";
import type { TraceDeps } from "../deps.ts";
import type { OwnApp } from "./platform-api.ts";
import { mcpServer } from "./mcp-server.ts";
import { MCP_PATH, METADATA_PATH } from "./paths.ts";
import { resourceMetadata, resourceMetadataSchema } from "./resource-metadata.ts";

/** Traces, datasets, prompts and feedback as tools of the Model Context Protocol. */
export function mcpRoutes(deps: TraceDeps, app: OwnApp): Route[] {
  const base = {
    tag: "MCP",
    path: MCP_PATH,
    // and each tool requires its own, as each request that it makes is one of the caller
    permission: "runs:read",
  } as const;
  const server = mcpServer(deps, app);
  return [
    route({
      ...base,
      method: "POST",
      // the requests that a tool makes are recorded as such
      audit: "none",
      summary: "Send a message of the Model Context Protocol, whose tools read and write what the caller may",
      reads: ["application/json"],
      out: { 200: rpcAnswer, 202: null, 400: rpcAnswer },
      errors: [413],
      handler: ({ c, principal }) => answerMcp(c, server, { c, principal }),
    }),
    route({
      ...base,
      method: "GET",
      summary: "Answer 405: the server does not initiate messages",
      out: {},
      errors: [405],
      handler: rejectMcpStream,
    }),
    route({
      ...base,
      method: "DELETE",
      audit: "none",
      summary: "Answer 404: the server is stateless and has no sessions",
      out: {},
      errors: [404],
      handler: rejectMcpSession,
    }),
    route({
      tag: "MCP",
      method: "GET",
      path: `${METADATA_PATH}${MCP_PATH}`,
      aliases: [METADATA_PATH],
      permission: "public",
      publicBecause: "clients read it to find out how to authenticate (RFC 9728)",
      summary: "Describe how clients of the MCP server authenticate",
      out: { 200: resourceMetadataSchema },
      handler: ({ c }) => c.json(resourceMetadata(deps.settings, c)),
    }),
  ];
}
