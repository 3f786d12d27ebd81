import { z } from "zod";

import { platform } from "../../base/http/aliases.ts";
import { requireReader } from "./require-reader.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { changeAlert, checkProject, composeDefinition, createAlert, removeAlert } from "./change-alert.ts";
import { listIncidents } from "./message-sql.ts";
import { checkPlatformRule, checkVisible, maySeePlatform } from "./platform-access.ts";
import { previewAlert } from "./preview-alert.ts";
import * as schema from "./schema.ts";
import { serializeIncident, serializeRule } from "./serialize-alert.ts";
import { listAlertRules } from "./sql.ts";
import { testChannels } from "./test-channels.ts";
import { unknownAlert } from "./unknown-alert.ts";

const shared = { tag: "Alerts" } as const;
const reading = { ...shared, permission: "rules:read" } as const;
const changing = { ...shared, permission: "rules:update" } as const;

const projectOf = ({ session_id }: { session_id: string }) => (session_id === "all" ? null : session_id);

/** Routes of alert rules (contract: group alerts), of their incidents, previews and channels. */
export function alertRoutes(deps: TraceDeps): Route[] {
  const { sql } = deps;
  const read = async (tenantId: string, project: string | null, id: string) => {
    const [row] = await listAlertRules(sql, tenantId, { id, project }, { limit: 1, offset: 0 });
    if (!row) throw unknownAlert(id);
    return serializeRule(row);
  };
  return [
    route({
      ...reading,
      method: "GET",
      ...platform("/alerts"),
      summary: "List the workspace's alert rules with their states, newest first",
      query: schema.listQuery,
      out: { 200: z.array(schema.alertRule) },
      async handler({ query, principal, c }) {
        const filter = { withPlatform: await maySeePlatform(sql, principal) };
        return c.json((await listAlertRules(sql, principal.workspaceId, filter, query)).map(serializeRule));
      },
    }),
    route({
      ...reading,
      method: "GET",
      ...platform("/alert-incidents"),
      summary: "List incidents with their deliveries, the last fired first",
      query: schema.incidentQuery,
      out: { 200: z.array(schema.incident) },
      async handler({ query: { alert_rule_id: rule, status, before, limit }, principal, c }) {
        const withPlatform = await maySeePlatform(sql, principal);
        const filter = {
          ...(rule && { rule }),
          ...(status && { status }),
          ...(before && { before }),
          limit,
          withPlatform,
        };
        return c.json((await listIncidents(sql, principal.workspaceId, filter)).map(serializeIncident));
      },
    }),
    route({
      ...reading,
      method: "GET",
      ...platform("/alerts/:session_id"),
      summary: "List the alert rules of a project",
      params: schema.projectParams,
      query: schema.listQuery,
      out: { 200: z.array(schema.alertRule) },
      async handler({ params, query, principal, c }) {
        await checkProject(deps, principal.workspaceId, projectOf(params));
        const filter = { project: projectOf(params), withPlatform: await maySeePlatform(sql, principal) };
        const rows = await listAlertRules(sql, principal.workspaceId, filter, query);
        return c.json(rows.map(serializeRule));
      },
    }),
    route({
      ...shared,
      permission: "rules:create",
      method: "POST",
      ...platform("/alerts/:session_id"),
      summary: "Create an alert rule",
      params: schema.projectParams,
      body: schema.createBody,
      out: { 201: schema.alertRule },
      errors: [404, 409],
      async handler({ params, body, principal, c }) {
        await checkPlatformRule(sql, principal, body.rule);
        const project = projectOf(params);
        const id = await createAlert(deps, principal, project, body);
        return c.json(await read(principal.workspaceId, project, id), 201);
      },
    }),
    route({
      ...changing,
      method: "POST",
      ...platform("/alerts/:session_id/test"),
      summary: "Send a test message by channels, and report what the receivers answered",
      params: schema.projectParams,
      body: schema.testBody,
      out: { 200: schema.testResult },
      async handler({ params, body, principal, c }) {
        await checkProject(deps, principal.workspaceId, projectOf(params));
        await checkVisible(sql, principal, body.alert_rule_id);
        await checkPlatformRule(sql, principal, body.rule);
        return c.json(await testChannels(deps, principal.workspaceId, projectOf(params), body));
      },
    }),
    route({
      ...reading,
      method: "POST",
      audit: "none",
      ...platform("/alerts/:session_id/preview"),
      summary: "Evaluate a rule on the past: how often it would have fired, and its values",
      params: schema.projectParams,
      body: schema.previewBody,
      out: { 200: schema.preview },
      async handler({ params, body: { rule, hours }, principal, c }) {
        const { workspaceId } = principal;
        requireReader(principal);
        await checkPlatformRule(sql, principal, rule);
        await checkProject(deps, workspaceId, projectOf(params));
        const definition = composeDefinition({ ...rule, name: undefined }, undefined);
        return c.json(await previewAlert(deps, workspaceId, projectOf(params), definition, hours));
      },
    }),
    route({
      ...reading,
      method: "GET",
      ...platform("/alerts/:session_id/:alert_rule_id"),
      summary: "Get an alert rule with its state",
      params: schema.alertParams,
      out: { 200: schema.alertRule },
      async handler({ params, principal, c }) {
        await checkVisible(sql, principal, params.alert_rule_id);
        return c.json(await read(principal.workspaceId, projectOf(params), params.alert_rule_id));
      },
    }),
    route({
      ...changing,
      method: "PATCH",
      ...platform("/alerts/:session_id/:alert_rule_id"),
      summary: "Change an alert rule; fields that are not sent stay as they are",
      params: schema.alertParams,
      body: schema.patchBody,
      out: { 200: schema.alertRule },
      async handler({ params, body, principal, c }) {
        await checkVisible(sql, principal, params.alert_rule_id);
        await checkPlatformRule(sql, principal, body.rule);
        const project = projectOf(params);
        await changeAlert(deps, principal.workspaceId, project, params.alert_rule_id, body);
        return c.json(await read(principal.workspaceId, project, params.alert_rule_id));
      },
    }),
    route({
      ...shared,
      permission: "rules:delete",
      method: "DELETE",
      ...platform("/alerts/:session_id/:alert_rule_id"),
      summary: "Delete an alert rule with its incidents; waiting messages are not sent",
      params: schema.alertParams,
      out: { 200: z.object({ message: z.string() }) },
      async handler({ params, principal, c }) {
        await checkVisible(sql, principal, params.alert_rule_id);
        await removeAlert(deps, principal.workspaceId, projectOf(params), params.alert_rule_id);
        return c.json({ message: "Alert rule deleted" });
      },
    }),
  ];
}
