import { Badge } from "@mantine/core";

import type { AlertRule } from "./queries.ts";

const STATES = {
  ok: { label: "OK", color: "green" },
  pending: { label: "Pending", color: "yellow" },
  firing: { label: "Firing", color: "red" },
  resolved: { label: "Resolved", color: "green" },
  disabled: { label: "Disabled", color: "gray" },
} as const;

/** State of a rule or an incident, with a note where messages are silenced. */
export function AlertStatus({ status, silenced_until: until }: Pick<AlertRule, "status" | "silenced_until">) {
  const isSilenced = until !== null && Date.parse(until) > Date.now();
  return (
    <>
      <StateBadge state={status} />
      {isSilenced && (
        <Badge variant="outline" color="gray" size="sm" tt="none" ml={4}>
          Silenced
        </Badge>
      )}
    </>
  );
}

export function StateBadge({ state }: { state: keyof typeof STATES }) {
  const { label, color } = STATES[state];
  return (
    <Badge
      variant="outline"
      color={color}
      size="sm"
      tt="none"
      styles={{ root: { borderColor: `var(--mantine-color-${color}-6)`, color: "var(--mantine-color-text)" } }}
    >
      {label}
    </Badge>
  );
}
