import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { LoadState } from "../../ui/load-state.tsx";
import { type SimpleColumn, SimpleTable } from "../../ui/simple-table.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { StateBadge } from "./alert-status.tsx";
import { formatValue } from "./describe-alert.ts";
import { type AlertRule, type Incident, incidentsQuery } from "./queries.ts";

/** Incidents of a rule with what became of their messages. */
export function IncidentList({ rule }: { rule: AlertRule }) {
  const incidents = useQuery(incidentsQuery(rule.id));
  if (!incidents.data) return <LoadState query={incidents} rows={3} />;
  if (incidents.data.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        It has not fired yet.
      </Text>
    );
  }
  return <SimpleTable label="Incidents" columns={columnsOf(rule)} rows={incidents.data} rowKey={({ id }) => id} />;
}

const columnsOf = (rule: AlertRule): SimpleColumn<Incident>[] => [
  { title: "State", width: 110, cell: ({ status }) => <StateBadge state={status} /> },
  ...(rule.group_by === null
    ? []
    : [{ title: "Group", cell: ({ group }: Incident) => <Text size="sm">{group || "–"}</Text> }]),
  { title: "Fired", width: 130, cell: ({ fired_at: at }) => <TimeText at={at} /> },
  {
    title: "Resolved",
    width: 160,
    cell: ({ resolved_at: at, reason }) =>
      at === null ? (
        "–"
      ) : (
        <>
          <TimeText at={at} />
          <Text size="xs" c="dimmed">
            {reason?.replaceAll("_", " ")}
          </Text>
        </>
      ),
  },
  {
    title: "Value",
    width: 150,
    cell: ({ value, worst_value: worst, threshold }) => (
      <Text size="sm" className="numbers">
        {formatValue(rule, value)}
        {worst !== value && `, at worst ${formatValue(rule, worst)}`}
        <Text span c="dimmed" inherit>
          {` / ${formatValue(rule, threshold)}`}
        </Text>
      </Text>
    ),
  },
  {
    title: "Messages",
    cell: (incident) => <MessagesOf {...incident} />,
  },
];

/** What became of the messages about an incident. */
export function MessagesOf({ deliveries, told_at: told }: Pick<Incident, "deliveries" | "told_at">) {
  if (told === null) {
    return (
      <Text size="sm" c="dimmed">
        Silenced
      </Text>
    );
  }
  return deliveries.map(({ id, target, recipient, event, status, error }) => (
    <Text key={id} size="xs" style={{ overflowWrap: "anywhere" }}>
      {recipient ?? target}, {event}: {status}
      {error !== null && ` – ${error}`}
    </Text>
  ));
}
