import { conflict, notFound, unprocessable } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { listSecretKeys } from "../workspace-secrets/sql.ts";
import { MAX_SECRETS } from "../workspace-secrets/schema.ts";
import { checkSettings } from "./check-settings.ts";
import { listModels } from "./list-models.ts";
import { isInstalled } from "./load-package.ts";
import { installCommand, isProviderId, PROVIDERS } from "./providers.ts";
import { connectionProblem, resolveConnection } from "./resolve-connection.ts";
import * as schema from "./schema.ts";
import * as rows from "./sql.ts";
import { testConnection } from "./test-connection.ts";

const tag = "Models";
const params = schema.connectionParams;
/** Model of a connection that is only asked for its list. */
const ANY = "any";

/** Routes of providers of models and of a workspace's connections to them. */
export function modelRoutes(deps: TraceDeps): Route[] {
  const { sql, outbound } = deps;
  const toWire = async (tenantId: string, found: rows.ConnectionRow[]) => {
    const keys = new Set((await listSecretKeys(sql, tenantId, MAX_SECRETS)).map(({ key }) => key));
    return found.map((row) => {
      const problem = connectionProblem(row, keys);
      return { ...row, ready: problem === null, problem };
    });
  };
  const read = async (tenantId: string, id: string): Promise<rows.ConnectionRow> => {
    const row = await rows.findConnection(sql, tenantId, id);
    if (!row) throw notFound("Model connection not found");
    return row;
  };

  return [
    route({
      tag,
      method: "GET",
      ...v1("/models/providers"),
      permission: "models:read",
      summary: "List the providers of models, with the parameters of their calls",
      out: { 200: schema.providers },
      handler: ({ c }) => c.json({ providers: Object.values(PROVIDERS).map(describeProvider) }),
    }),
    route({
      tag,
      method: "GET",
      ...v1("/models/providers/:provider/models"),
      permission: "models:call",
      summary: "List the models that a provider offers, by its default connection",
      params: schema.providerParams,
      out: { 200: schema.modelList },
      errors: [404, 424, 502],
      async handler({ params: { provider }, principal, c }) {
        if (!isProviderId(provider)) throw notFound("Model provider not found");
        const wanted = { provider, model: ANY, parameters: {} };
        const connection = await resolveConnection(deps, principal.workspaceId, wanted);
        return c.json({ models: await listModels(deps, connection) });
      },
    }),
    route({
      tag,
      method: "GET",
      ...v1("/models/connections"),
      permission: "models:read",
      summary: "List model connections",
      out: { 200: schema.connections },
      async handler({ principal, c }) {
        const found = await rows.listConnections(sql, principal.workspaceId, schema.MAX_CONNECTIONS);
        return c.json({ connections: await toWire(principal.workspaceId, found) });
      },
    }),
    route({
      tag,
      method: "POST",
      ...v1("/models/connections"),
      permission: "models:manage",
      summary: "Create a model connection",
      auditFields: ["name", "provider"],
      body: schema.createBody,
      out: { 200: schema.connection },
      errors: [409],
      async handler({ body, principal, c }) {
        checkSettings(outbound, PROVIDERS[body.provider], body.settings, body.secrets);
        const { default_model = null, embedding_model = null } = body;
        const row = { ...body, id: uuid7(), default_model, embedding_model };
        const created = await rows
          .insertConnection(sql, principal.workspaceId, row, schema.MAX_CONNECTIONS)
          .catch(nameTaken(body.name));
        if (!created) {
          throw unprocessable(`A workspace can have at most ${schema.MAX_CONNECTIONS} model connections.`);
        }
        return c.json((await toWire(principal.workspaceId, [created]))[0]!);
      },
    }),
    route({
      tag,
      params,
      method: "GET",
      ...v1("/models/connections/:connection_id"),
      permission: "models:read",
      summary: "Get a model connection",
      out: { 200: schema.connection },
      errors: [404],
      async handler({ params: { connection_id: id }, principal, c }) {
        const row = await read(principal.workspaceId, id);
        return c.json((await toWire(principal.workspaceId, [row]))[0]!);
      },
    }),
    route({
      tag,
      params,
      method: "PATCH",
      ...v1("/models/connections/:connection_id"),
      permission: "models:manage",
      summary: "Change a model connection; missing fields stay unchanged",
      auditFields: ["name"],
      body: schema.patchBody,
      out: { 200: schema.connection },
      errors: [404, 409],
      async handler({ params: { connection_id: id }, body, principal, c }) {
        const before = await read(principal.workspaceId, id);
        const after = {
          ...before,
          name: body.name ?? before.name,
          settings: body.settings ?? before.settings,
          secrets: body.secrets ?? before.secrets,
          default_model: body.default_model === undefined ? before.default_model : body.default_model,
          embedding_model: body.embedding_model === undefined ? before.embedding_model : body.embedding_model,
        };
        if (isProviderId(after.provider)) {
          checkSettings(outbound, PROVIDERS[after.provider], after.settings, after.secrets);
        }
        const row = await rows.updateConnection(sql, principal.workspaceId, after).catch(nameTaken(after.name));
        if (!row) throw notFound("Model connection not found");
        return c.json((await toWire(principal.workspaceId, [row]))[0]!);
      },
    }),
    route({
      tag,
      params,
      method: "DELETE",
      ...v1("/models/connections/:connection_id"),
      permission: "models:manage",
      summary: "Delete a model connection; its secrets stay",
      out: { 204: null },
      errors: [404],
      async handler({ params: { connection_id: id }, principal, c }) {
        const deleted = await rows.deleteConnection(sql, principal.workspaceId, id);
        if (!deleted) throw notFound("Model connection not found");
        return c.body(null, 204);
      },
    }),
    route({
      tag,
      params,
      method: "GET",
      ...v1("/models/connections/:connection_id/models"),
      permission: "models:call",
      summary: "List the models that a connection's provider offers",
      out: { 200: schema.modelList },
      errors: [404, 424, 502],
      async handler({ params: { connection_id: id }, principal, c }) {
        const wanted = { connection_id: id, model: ANY, parameters: {} };
        const connection = await resolveConnection(deps, principal.workspaceId, wanted);
        return c.json({ models: await listModels(deps, connection) });
      },
    }),
    route({
      tag,
      params,
      method: "POST",
      ...v1("/models/connections/:connection_id/test"),
      permission: "models:call",
      audit: "data",
      summary: "Test a model connection by a short call, which is traced and counts for the budget",
      body: schema.testBody,
      out: { 200: schema.testResult },
      errors: [402, 404, 424],
      handler: async ({ params: { connection_id: id }, body, principal, c }) =>
        c.json(await testConnection(deps, principal, id, body.model ?? undefined, c.req.raw.signal)),
    }),
  ];
}

function describeProvider({ id, name, package: packageName, ...provider }: (typeof PROVIDERS)["openai"]) {
  const { secrets, settings, parameters, supports, models, embeddingModels } = provider;
  return {
    ...{ id, name, package: packageName, installed: isInstalled(packageName) },
    install_command: installCommand(packageName),
    ...{ secrets, settings, supports, models, embedding_models: embeddingModels },
    parameters: { type: "object", properties: parameters, additionalProperties: false },
  };
}

/** SQLSTATE unique_violation */
const nameTaken =
  (name: string) =>
  (error: unknown): never => {
    if ((error as { code?: string }).code !== "23505") throw error;
    throw conflict(`A model connection "${name}" already exists.`);
  };
