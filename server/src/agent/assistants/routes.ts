import { z } from "zod";

import { conflict, notFound } from "../../base/errors.ts";
import { jsonObject } from "../../base/http/fields.ts";
import { paginationHeaders } from "../../base/http/pagination.ts";
import { rawJson } from "../../base/http/route.ts";
import { uuid7 } from "../../base/ids.ts";
import { agentRoute, type AgentRoute, onAssistant, onSearch } from "../custom-auth/agent-route.ts";
import type { AgentDeps } from "../deps.ts";
import { resolveAssistantId, unknownAssistant } from "../project/assistant-id.ts";
import { deleteAssistant } from "./delete-assistant.ts";
import { mirrorConfig } from "./mirror-config.ts";
import * as schema from "./schema.ts";
import * as rows from "./sql.ts";

const DRAWING_TIMEOUT_MS = 30_000;
const shared = { tag: "Assistants", params: schema.assistantParams } as const;
/** Fields that auth handlers see. */
const AUTH_FIELDS = ["graph_id", "config", "context", "metadata", "name", "description"];

export function assistantRoutes(deps: AgentDeps): AgentRoute[] {
  const { sql } = deps;
  const resolveId = (idOrGraph: string): string => {
    const id = resolveAssistantId(deps.project, idOrGraph);
    if (id === undefined) throw unknownAssistant(idOrGraph, "Assistant not found");
    return id;
  };
  const found = <T>(request: T | undefined): T => {
    if (request === undefined) throw notFound("Assistant not found");
    return request;
  };
  const isPython = (graphId: string) => deps.hosts.languageOf(graphId) === "python";
  const findRow = async (idOrGraph: string) => {
    const row = found(await rows.selectAssistantRow(sql, resolveId(idOrGraph)));
    return { graph_id: row.graph_id, config: row.config ?? {} };
  };

  return [
    agentRoute({
      ...shared,
      method: "POST",
      path: "/assistants",
      permission: "assistants:write",
      params: undefined,
      auth: { ...onSearch("assistants:create", ["assistant_id", "if_exists", ...AUTH_FIELDS]), newId: "assistant_id" },
      summary: "Create an assistant",
      body: schema.createBody,
      out: { 200: schema.assistant },
      errors: [404, 409],
      async handler({ body, principal }) {
        const id = body.assistant_id ?? uuid7();
        deps.hosts.checkGraph(body.graph_id);
        const { graph_id, metadata } = body;
        const { config, context } = isPython(graph_id) ? mirrorConfig(body) : body;
        const name = body.name ?? "Untitled";
        const assistantParams = {
          assistant_id: id,
          graph_id,
          name,
          description: body.description ?? null,
          config,
          context,
          metadata,
        };
        const created = await rows.insertAssistant(sql, assistantParams);
        if (created !== undefined) return rawJson(created);
        if (body.if_exists !== "do_nothing") throw conflict("Assistant already exists");
        const existing = await rows.findAssistant(sql, id, principal.sees);
        if (existing === undefined) throw conflict("Assistant already exists");
        return rawJson(existing);
      },
    }),
    agentRoute({
      ...shared,
      method: "POST",
      path: "/assistants/search",
      permission: "assistants:read",
      params: undefined,
      auth: onSearch("assistants:search", ["graph_id", "name", "metadata", "limit", "offset"]),
      summary: "Search assistants",
      body: schema.searchBody,
      out: { 200: z.array(schema.assistant.partial()) },
      async handler({ body, principal }) {
        const page = await rows.searchAssistants(sql, body, principal.sees);
        return rawJson(page.items, paginationHeaders(page.total, body.offset, body.limit));
      },
    }),
    agentRoute({
      ...shared,
      method: "POST",
      path: "/assistants/count",
      permission: "assistants:read",
      params: undefined,
      auth: onSearch("assistants:search", ["graph_id", "name", "metadata"]),
      summary: "Count assistants",
      body: schema.countBody,
      out: { 200: z.int() },
      handler: async ({ body, c, principal }) => c.json(await rows.countAssistants(sql, body, principal.sees)),
    }),
    agentRoute({
      ...shared,
      method: "GET",
      path: "/assistants/:assistant_id",
      permission: "assistants:read",
      auth: onAssistant("assistants:read"),
      summary: "Get an assistant",
      out: { 200: schema.assistant },
      handler: async ({ params }) => rawJson(found(await rows.findAssistant(sql, resolveId(params.assistant_id)))),
    }),
    agentRoute({
      ...shared,
      method: "PATCH",
      path: "/assistants/:assistant_id",
      permission: "assistants:write",
      auth: onAssistant("assistants:update", AUTH_FIELDS),
      summary: "Update an assistant; every change creates a new version",
      body: schema.patchBody,
      out: { 200: schema.assistant },
      async handler({ params, body }) {
        const id = resolveId(params.assistant_id);
        if (body.graph_id) deps.hosts.checkGraph(body.graph_id);
        const mirrored = deps.hosts.hasPython ? mirrorConfig(body) : body;
        const isMirrored =
          mirrored !== body && isPython(body.graph_id ?? found(await rows.selectAssistantRow(sql, id)).graph_id);
        return rawJson(found(await rows.patchAssistant(sql, id, isMirrored ? mirrored : body)));
      },
    }),
    agentRoute({
      ...shared,
      method: "DELETE",
      path: "/assistants/:assistant_id",
      permission: "assistants:write",
      // the route's handler asks about the threads deleted along with it
      auth: onAssistant("assistants:delete"),
      summary: "Delete an assistant, its versions and its runs",
      query: schema.deleteQuery,
      out: { 200: z.array(z.guid()) },
      async handler({ params, query, c, principal }) {
        const id = resolveId(params.assistant_id);
        await deleteAssistant(deps, principal, id, query.delete_threads);
        return c.json([id]);
      },
    }),
    agentRoute({
      ...shared,
      method: "GET",
      path: "/assistants/:assistant_id/graph",
      permission: "assistants:read",
      auth: onAssistant("assistants:read"),
      summary: "Get the assistant's graph",
      query: schema.drawingQuery,
      out: { 200: z.object({ nodes: z.array(jsonObject), edges: z.array(jsonObject) }) },
      async handler({ params, query }) {
        const row = await findRow(params.assistant_id);
        return rawJson(
          await deps.hosts.call("graph.drawing", { ...row, xray: query.xray }, { timeoutMs: DRAWING_TIMEOUT_MS }),
        );
      },
    }),
    agentRoute({
      ...shared,
      method: "GET",
      path: "/assistants/:assistant_id/schemas",
      permission: "assistants:read",
      auth: onAssistant("assistants:read"),
      summary: "Get the JSON schemas of the assistant's graph",
      out: { 200: jsonObject },
      handler: async ({ params }) =>
        rawJson(await deps.hosts.call("graph.schemas", await findRow(params.assistant_id))),
    }),
    agentRoute({
      ...shared,
      method: "GET",
      path: "/assistants/:assistant_id/subgraphs",
      permission: "assistants:read",
      auth: onAssistant("assistants:read"),
      summary: "Get the schemas of the graph's subgraphs",
      query: schema.subgraphsQuery,
      out: { 200: jsonObject },
      async handler({ params, query }) {
        return rawJson(
          await deps.hosts.call("graph.subgraphs", { ...(await findRow(params.assistant_id)), recurse: query.recurse }),
        );
      },
    }),
    agentRoute({
      ...shared,
      method: "GET",
      path: "/assistants/:assistant_id/subgraphs/:namespace",
      permission: "assistants:read",
      params: schema.subgraphsParams,
      auth: onAssistant("assistants:read"),
      summary: "Get the schemas of the subgraphs under a namespace",
      query: schema.subgraphsQuery,
      out: { 200: jsonObject },
      async handler({ params, query }) {
        const row = await findRow(params.assistant_id);
        const { namespace } = params;
        return rawJson(await deps.hosts.call("graph.subgraphs", { ...row, namespace, recurse: query.recurse }));
      },
    }),
    agentRoute({
      ...shared,
      method: "POST",
      path: "/assistants/:assistant_id/versions",
      permission: "assistants:read",
      auth: onAssistant("assistants:read", ["metadata"]),
      summary: "List an assistant's versions, newest first",
      body: schema.versionsBody,
      out: { 200: z.array(schema.assistantVersion) },
      async handler({ params, body }) {
        const unknown = notFound(`Assistant "${params.assistant_id}" not found.`);
        const id = resolveAssistantId(deps.project, params.assistant_id);
        if (id === undefined) throw unknown;
        const items = await rows.listVersions(sql, id, body);
        if (items === "[]" && !(await rows.assistantExists(sql, id))) throw unknown;
        return rawJson(items);
      },
    }),
    agentRoute({
      ...shared,
      method: "POST",
      path: "/assistants/:assistant_id/latest",
      permission: "assistants:write",
      auth: onAssistant("assistants:update", ["version"]),
      summary: "Make an earlier version the current one",
      body: schema.latestBody,
      out: { 200: schema.assistant },
      async handler({ params, body }) {
        const restored = await rows.restoreVersion(sql, resolveId(params.assistant_id), body.version);
        if (restored === undefined) throw notFound("Assistant version not found");
        return rawJson(restored);
      },
    }),
  ];
}
