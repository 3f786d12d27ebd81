/** Applies ticks to the states of a rule's groups. Pure: the evaluation stores the result, the preview counts it. */
import { uuid5 } from "../../base/ids.ts";
import type { AlertDefinition } from "./definition.ts";
import type { IncidentChange } from "./evaluation-sql.ts";
import type { Observations, Ticks } from "./read-metric.ts";
import { decide, type GroupStatus, OK, UNSEEN } from "./status.ts";

const NAMESPACE = "b6b7d0a4-38f5-5e6b-8c0b-7d4f3f0e7d11";

export interface Group {
  status: GroupStatus;
  breaches: number;
  /** Tick of the first breach; ISO text. */
  began_at: string;
  incident: Incident | null;
}

/** Incident of a group; `isNew` before it is stored. */
export type Incident = IncidentChange & { isNew: boolean };

export interface Evaluated {
  /** Groups that are not ok. */
  groups: Map<string, Group>;
  /** Incidents that were firing at some tick, in order of their ticks. */
  incidents: Incident[];
}

/** @param ruleKey what identifies the rule and its generation, for the ids of incidents */
export function evaluateTicks(
  definition: AlertDefinition,
  ruleKey: string,
  before: ReadonlyMap<string, Group>,
  ticks: Ticks,
  observations: Observations,
): Evaluated {
  const groups = new Map(before);
  const incidents = new Set<Incident>();
  const isLow = definition.operator.startsWith("l");
  const furthest = (a: number | null, b: number | null) =>
    a === null || b === null ? (a ?? b) : isLow ? Math.min(a, b) : Math.max(a, b);
  observations.forEach((seen, index) => {
    const tick = new Date(ticks.first + index * ticks.step).toISOString();
    const names = new Set([...seen.keys(), ...groups.keys(), ...(definition.group_by === null ? [""] : [])]);
    for (const name of names) {
      const state = groups.get(name);
      const next = decide(definition, state ?? OK, seen.get(name) ?? UNSEEN);
      const { status, breaches, value, threshold } = next;
      const began_at = state && breaches > 1 ? state.began_at : tick;
      let incident = state?.incident ?? null;
      if (incident) {
        incident.last_value = value ?? incident.last_value;
        incident.worst = furthest(incident.worst, value);
        incident.threshold = threshold ?? incident.threshold;
      }
      if (status === "firing" && !incident) {
        incident = {
          isNew: true,
          incident_id: uuid5(`${ruleKey}/${name}/${tick}`, NAMESPACE),
          group_name: name,
          status: "firing",
          began_at,
          fired_at: tick,
          resolved_at: null,
          value,
          worst: value,
          last_value: value,
          threshold,
          reason: null,
          told: false,
        };
      }
      if (incident) incidents.add(incident);
      if (status === "ok" && incident) {
        incident.status = "resolved";
        incident.resolved_at = tick;
        incident.reason = next.isUnknown ? "no_data" : "recovered";
      }
      if (status === "ok") groups.delete(name);
      else groups.set(name, { status, breaches, began_at: state?.incident ? state.began_at : began_at, incident });
    }
  });
  return { groups, incidents: [...incidents] };
}
