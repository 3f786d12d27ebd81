import type { z } from "zod";

import type { ListedIncident } from "./message-sql.ts";
import type { alertRule, incident } from "./schema.ts";
import type { ListedRule } from "./sql.ts";

const iso = (time: Date | null) => time?.toISOString() ?? null;

export function serializeRule(row: ListedRule): z.output<typeof alertRule> {
  const { definition, firing, pending } = row;
  const created_at = row.created_at.toISOString();
  const updated_at = row.updated_at.toISOString();
  const active = firing > 0 ? "firing" : pending > 0 ? "pending" : "ok";
  return {
    rule: {
      ...definition,
      id: row.rule_id,
      session_id: row.project_id,
      session_name: row.session_name,
      name: row.name,
      severity: row.severity,
      enabled: row.is_enabled,
      disabled_reason: row.disabled_reason,
      silenced_until: iso(row.silenced_until),
      maintenance_windows: row.maintenance,
      status: row.is_enabled ? active : "disabled",
      firing,
      pending,
      last_fired_at: iso(row.last_fired_at),
      evaluated_at: iso(row.evaluated_at),
      error: row.error,
      created_at,
      updated_at,
    },
    actions: row.actions
      .filter(({ removed }) => !removed)
      .map((action) => ({ ...action, alert_rule_id: row.rule_id, created_at, updated_at })),
  };
}

export const serializeIncident = (row: ListedIncident): z.output<typeof incident> => ({
  id: row.incident_id,
  alert_rule_id: row.rule_id,
  rule_name: row.rule_name,
  group: row.group_name,
  status: row.status,
  severity: row.severity,
  began_at: row.began_at,
  fired_at: row.fired_at,
  resolved_at: row.resolved_at,
  value: row.value,
  worst_value: row.worst,
  last_value: row.last_value,
  threshold: row.threshold,
  reason: row.reason,
  period: row.period,
  level: row.level,
  told_at: row.told_at,
  deliveries: row.deliveries,
});
