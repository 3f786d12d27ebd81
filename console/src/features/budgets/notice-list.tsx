import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { money } from "../../ui/format.ts";
import { LoadState } from "../../ui/load-state.tsx";
import { type SimpleColumn, SimpleTable } from "../../ui/simple-table.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { MessagesOf } from "../alerts/incident-list.tsx";
import { type Incident, incidentsQuery } from "../alerts/queries.ts";
import type { Budget } from "./queries.ts";

/** Notices of a budget, the last first, with what became of their messages. */
export function NoticeList({ budget }: { budget: Budget }) {
  const notices = useQuery(incidentsQuery(budget.id));
  if (!notices.data) return <LoadState query={notices} rows={3} />;
  if (notices.data.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        No threshold has been reached yet.
      </Text>
    );
  }
  return <SimpleTable label="Notices" columns={columnsOf(budget)} rows={notices.data} rowKey={({ id }) => id} />;
}

const columnsOf = (budget: Budget): SimpleColumn<Incident>[] => [
  { title: "Month", width: 90, cell: ({ period }) => period },
  { title: "Given", width: 130, cell: ({ fired_at: at }) => <TimeText at={at} /> },
  ...(budget.per === "total" ? [] : [{ title: "User", cell: ({ group }: Incident) => <Text size="sm">{group}</Text> }]),
  { title: "Threshold", width: 110, cell: ({ level }) => (level === "forecast" ? "Forecast" : `${level} %`) },
  {
    title: "Amount",
    width: 190,
    cell: ({ value, last_value: last, threshold }) => (
      <Text size="sm" className="numbers">
        {money(value)}
        {last !== value && `, now ${money(last)}`}
        <Text span c="dimmed" inherit>
          {` / ${money(threshold)}`}
        </Text>
      </Text>
    ),
  },
  { title: "Messages", cell: (notice) => <MessagesOf {...notice} /> },
];
