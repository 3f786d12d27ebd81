import { Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { count } from "../../ui/format.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { readMetadata, utc } from "../runs/run-record.ts";
import { Card } from "./card.tsx";
import { HoursChart, sumHours } from "./hours-chart.tsx";
import { firstLine, groupFailures } from "./group-failures.ts";
import { FAILURES, failuresQuery, hoursQuery, recentProjectsQuery } from "./queries.ts";

const AllProjects = () => (
  <AnchorLink to="/projects" size="sm">
    All projects
  </AnchorLink>
);

/** The most recently active projects, with their last 24 hours. */
export function ProjectsCard() {
  return (
    <Card
      title="Traces in the last 24 hours"
      all={<AllProjects />}
      query={useQuery(recentProjectsQuery)}
      none={
        <Text size="sm">No traces yet. Graph runs are traced automatically; any LangSmith client can send traces.</Text>
      }
      line={({ id, name }) => <ProjectLine key={id} id={id} name={name ?? id} />}
    />
  );
}

function ProjectLine({ id, name }: { id: string; name: string }) {
  const { data: hours } = useQuery(hoursQuery(id));
  const total = hours && sumHours(hours);
  return (
    <Group justify="space-between" wrap="nowrap" gap="sm" mih={24}>
      <AnchorLink to="/projects/$projectId" params={{ projectId: id }} size="sm" truncate style={{ flex: 1 }}>
        {name}
      </AnchorLink>
      {total && total.failed > 0 && (
        <Text size="sm" className="numbers" c="var(--heddle-danger)" style={{ whiteSpace: "nowrap" }}>
          {count(total.failed)} failed
        </Text>
      )}
      <Text size="sm" className="numbers" ta="end" miw={40}>
        {count(total?.traces)}
      </Text>
      <HoursChart hours={hours} />
    </Group>
  );
}

/** Lines of errors. */
const SHOWN = 6;

/** Recent failures that need attention, a line for each error. */
export function FailuresCard() {
  const { data: projects } = useQuery(recentProjectsQuery);
  const ids = projects?.map(({ id }) => id) ?? [];
  const failures = useQuery({ ...failuresQuery(ids), enabled: ids.length > 0 });
  const groups = failures.data && groupFailures(failures.data).slice(0, SHOWN);
  const query = { ...failures, data: projects && ids.length === 0 ? [] : groups };
  const names = new Map(projects?.map(({ id, name }) => [id, name]));
  const isAll = (failures.data?.length ?? 0) < FAILURES;
  return (
    <Card
      title="Failures in the last 24 hours"
      all={<AllProjects />}
      query={query}
      none={<Text size="sm">No failures in recently active projects.</Text>}
      line={({ newest: run, count: times }) => (
        <Group key={run.id} wrap="nowrap" gap="sm" align="baseline">
          <AnchorLink
            to="/projects/$projectId/r/$runId"
            params={{ projectId: run.session_id!, runId: run.id! }}
            size="sm"
            truncate
            style={{ flex: "none", maxWidth: "40%" }}
          >
            {runName(run)}
          </AnchorLink>
          <Text size="sm" c="dimmed" truncate style={{ flex: 1 }}>
            {firstLine(run.error)}
          </Text>
          <Text size="sm" className="numbers" c="var(--heddle-danger)" style={{ whiteSpace: "nowrap" }}>
            {times === 1 ? "" : `${count(times)}${isAll ? "" : "+"} times`}
          </Text>
          <Text size="sm" c="dimmed" truncate maw="25%" visibleFrom="xs">
            {names.get(run.session_id!) ?? ""}
          </Text>
          <TimeText at={utc(run.start_time)} />
        </Group>
      )}
    />
  );
}

/** Returns a run's name. The library calls all unnamed graphs LangGraph; their ids are more informative. */
function runName(run: { name?: string; extra?: unknown }): string {
  const { graph_id: graph } = readMetadata(run);
  return run.name === "LangGraph" && typeof graph === "string" ? graph : (run.name ?? "");
}
