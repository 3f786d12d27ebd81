import { Badge } from "@mantine/core";

import { RoleBadge } from "../../ui/status-badge.tsx";
import type { AlertRule } from "./queries.ts";

const STATES = {
  ok: { label: "OK", role: "success" },
  pending: { label: "Pending", role: "warning" },
  firing: { label: "Firing", role: "danger" },
  resolved: { label: "Resolved", role: "success" },
  disabled: { label: "Disabled", role: "neutral" },
} as const;

/** State of a rule or an incident, with a note where messages are silenced. */
export function AlertStatus({ status, silenced_until: until }: Pick<AlertRule, "status" | "silenced_until">) {
  const isSilenced = until !== null && Date.parse(until) > Date.now();
  return (
    <>
      <StateBadge state={status} />
      {isSilenced && (
        <Badge variant="outline" color="neutral" size="sm" tt="none" ms={4}>
          Silenced
        </Badge>
      )}
    </>
  );
}

export function StateBadge({ state }: { state: keyof typeof STATES }) {
  const { label, role } = STATES[state];
  return <RoleBadge role={role}>{label}</RoleBadge>;
}
