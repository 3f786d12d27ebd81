import type { z } from "zod";

import { databaseNow } from "../../base/db/database-now.ts";
import type { TraceDeps } from "../deps.ts";
import { unprocessable } from "../../base/errors.ts";
import { type AlertDefinition, isPlatformMetric } from "./definition.ts";
import { evaluateTicks } from "./evaluate-ticks.ts";
import { readObservations, type Ticks } from "./read-metric.ts";
import type { preview } from "./schema.ts";
import { decide, OK, UNSEEN } from "./status.ts";

/** Each run is in at most so many windows. */
const MAX_OVERLAP = 12;
const MAX_TICKS = 4032;
const MAX_INCIDENTS = 500;
const MAX_SERIES = 5;
const MAX_POINTS = 400;

type Deps = Pick<TraceDeps, "sql" | "clickhouse" | "projects" | "settings" | "health" | "agentFigures">;

/**
 * Evaluates a definition at the ticks of the past hours, by the functions of the evaluation: how often would it have
 * fired, and the values for a chart. Over long ranges the ticks are further apart than those of the rule.
 */
export async function previewAlert(
  deps: Deps,
  tenantId: string,
  projectId: string | null,
  definition: AlertDefinition,
  hours: number,
): Promise<z.output<typeof preview>> {
  if (isPlatformMetric(definition.attribute)) {
    throw unprocessable("rule.attribute: metrics of the platform have no past, so there is no preview");
  }
  const ticks = chooseTicks(definition, hours, (await databaseNow(deps.sql)).getTime());
  const rule = { tenant_id: tenantId, project_id: projectId, definition };
  const observations = await readObservations(deps, rule, ticks);
  const { incidents } = evaluateTicks(definition, "preview", new Map(), ticks, observations);
  const at = (index: number) => new Date(ticks.first + index * ticks.step).toISOString();
  const sizes = new Map<string, number>();
  for (const groups of observations) {
    for (const [name, { runs }] of groups) sizes.set(name, (sizes.get(name) ?? 0) + runs);
  }
  if (definition.group_by === null) sizes.set("", Infinity);
  const names = [...sizes].toSorted(([, a], [, b]) => b - a).map(([name]) => name);
  const stride = Math.ceil(ticks.count / MAX_POINTS);
  return {
    since: at(0),
    until: at(ticks.count - 1),
    step_minutes: ticks.step / 60_000,
    fired: incidents.length,
    incidents: incidents.slice(-MAX_INCIDENTS).map((incident) => ({
      group: incident.group_name,
      began_at: incident.began_at,
      fired_at: incident.fired_at,
      resolved_at: incident.resolved_at,
      value: incident.value,
      worst_value: incident.worst,
    })),
    series: names.slice(0, MAX_SERIES).map((group) => ({
      group,
      points: observations.flatMap((groups, index) => {
        // the newest tick is always shown
        if ((ticks.count - 1 - index) % stride !== 0) return [];
        const { value, threshold } = decide(definition, OK, groups.get(group) ?? UNSEEN);
        return [{ at: at(index), value, threshold }];
      }),
    })),
  };
}

function chooseTicks({ interval_minutes, window_minutes }: AlertDefinition, hours: number, now: number): Ticks {
  const minutes = Math.max(
    interval_minutes,
    Math.ceil(window_minutes / MAX_OVERLAP),
    Math.ceil((hours * 60) / MAX_TICKS),
  );
  const step = minutes * 60_000;
  const last = Math.floor(now / step) * step;
  const count = Math.max(1, Math.floor((hours * 3_600_000) / step));
  return { first: last - (count - 1) * step, count, step };
}
