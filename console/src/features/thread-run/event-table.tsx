import { Text } from "@mantine/core";

import { duration } from "../../ui/format.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import type { RunEvent } from "./run-events.ts";

/** Ids that the events' links need. */
export interface Places {
  server: string;
  threadId: string;
  projectId: string | null;
  deploymentId: string | null;
}

interface EventTableProps {
  events: RunEvent[];
  /** Start of the axis in milliseconds since 1970. */
  from: number;
  selected: string | undefined;
  places: Places;
}

/** Table of a run's events, with links to the objects that they belong to. */
export function EventTable({ events, from, selected, places }: EventTableProps) {
  return (
    <SimpleTable<RunEvent>
      label="Events"
      rows={events}
      rowKey={({ key }) => key}
      minWidth={720}
      columns={[
        {
          title: "Time",
          width: 100,
          align: "right",
          cell: ({ key, at }) => (
            <Text size="sm" className="numbers" id={`event-${key}`} fw={key === selected ? 700 : undefined}>
              +{duration(at - from)}
            </Text>
          ),
        },
        {
          title: "Duration",
          width: 100,
          align: "right",
          cell: ({ at, end }) => (
            <Text size="sm" className="numbers" c="dimmed">
              {end === undefined ? "" : end === null ? "active" : duration(end - at)}
            </Text>
          ),
        },
        {
          title: "Source",
          width: 120,
          cell: ({ lane }) => (
            <Text size="sm" c="dimmed">
              {lane}
            </Text>
          ),
        },
        { title: "Event", width: 220, cell: (event) => <EventLink event={event} places={places} /> },
        {
          title: "Details",
          cell: ({ detail, isFailure }) => (
            <Text size="sm" lineClamp={2} title={detail} c={isFailure ? "var(--heddle-danger)" : "dimmed"}>
              {detail ?? ""}
            </Text>
          ),
        },
      ]}
    />
  );
}

function EventLink({ event: { label, target }, places }: { event: RunEvent; places: Places }) {
  const { server, threadId, projectId, deploymentId } = places;
  if (target?.kind === "trace" && projectId !== null) {
    return (
      <AnchorLink to="/projects/$projectId/r/$runId" params={{ projectId, runId: target.runId }} size="sm">
        {label}
      </AnchorLink>
    );
  }
  if (target?.kind === "checkpoint") {
    return (
      <AnchorLink
        to="/a/$server/threads/$threadId"
        params={{ server, threadId }}
        search={{ tab: "history", checkpoint: target.id }}
        size="sm"
      >
        {label}
      </AnchorLink>
    );
  }
  if (target?.kind === "delivery") {
    return (
      <AnchorLink to="/a/$server/webhooks" params={{ server }} search={{ delivery: target.id }} size="sm">
        {label}
      </AnchorLink>
    );
  }
  if (target?.kind === "log" && deploymentId !== null) {
    return (
      <AnchorLink to="/deployments/$deploymentId" params={{ deploymentId }} search={{ tab: "logs" }} size="sm">
        {label}
      </AnchorLink>
    );
  }
  return <Text size="sm">{label}</Text>;
}
