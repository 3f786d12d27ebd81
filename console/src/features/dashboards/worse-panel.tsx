import { Badge, Box, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { AnchorLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import type { TimeRange } from "../../ui/time-range.ts";
import { TimeText } from "../../ui/time-text.tsx";
import { type Cause, type Change, changesQuery } from "./queries.ts";

/** The charts below keep their place when the findings arrive. */
const HEIGHT = 230;
const FAILED = 'eq(status, "error")';

/** What got worse in a project since the previous period, and in which traces, with links to them. */
export function WorsePanel({ projectId, range }: { projectId: string; range: TimeRange }) {
  const { data: found, error, refetch } = useQuery(changesQuery(projectId, range));
  const worse = found?.changes.filter(({ verdict, causes }) => verdict === "worse" || causes.length > 0) ?? [];
  const rest = found?.changes.filter((change) => !worse.includes(change)) ?? [];
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="worse-title" mb="md">
      <Title order={2} size="h5" id="worse-title" mb="xs">
        What got worse
      </Title>
      <Box h={HEIGHT} style={{ overflow: "auto" }} tabIndex={0} role="group" aria-label="Findings">
        <LoadState query={{ data: found, error, refetch }} rows={3} title="Could not compare the periods" />
        {found && (
          <Stack gap="md">
            {worse.length === 0 && (
              <Text size="sm">
                {found.traces.now === 0
                  ? "No traces in this period."
                  : "Nothing, against the previous period of the same length."}
              </Text>
            )}
            {worse.map((change) => (
              <Worse
                key={`${change.measure} ${change.feedback_key ?? ""}`}
                change={change}
                found={found}
                projectId={projectId}
              />
            ))}
            {rest.length > 0 && found.traces.now > 0 && (
              <Text size="sm" c="dimmed">
                {rest.map(({ text }) => text).join(" ")}
              </Text>
            )}
            {found.events.length > 0 && (
              <Text size="sm" c="dimmed" component="div">
                New in this period:{" "}
                {found.events.slice(0, 5).map(({ dimension, value, first_seen: at }) => (
                  <span key={`${dimension} ${value}`}>
                    {dimension.replace("_", " ")} {value.slice(0, 40)} (<TimeText at={at} />){" "}
                  </span>
                ))}
              </Text>
            )}
          </Stack>
        )}
      </Box>
    </Paper>
  );
}

interface WorseProps {
  change: Change;
  found: { start_time: string; end_time: string };
  projectId: string;
}

function Worse({ change, found, projectId }: WorseProps) {
  return (
    <div>
      <Group gap="xs" mb={4}>
        {change.verdict === "worse" && (
          <Badge color="danger" variant="light" size="sm">
            worse
          </Badge>
        )}
        <Text size="sm" fw={600}>
          {change.text}
        </Text>
      </Group>
      {change.causes.length === 0 ? (
        <Text size="sm" c="dimmed">
          No property of the traces explains it: it is the same everywhere.
        </Text>
      ) : (
        <ol style={{ margin: 0, paddingInlineStart: 22 }}>
          {change.causes.map((cause) => (
            <li key={`${cause.dimension} ${cause.key ?? ""} ${cause.value}`}>
              <Text size="sm" component="span">
                {cause.text}{" "}
              </Text>
              <CauseLink cause={cause} change={change} found={found} projectId={projectId} />
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

function CauseLink({ cause, change, found, projectId }: WorseProps & { cause: Cause }) {
  const isErrors = change.measure === "error_rate";
  const filters = [cause.filter, isErrors ? FAILED : null].filter((filter) => filter !== null);
  const search = {
    from: found.start_time,
    to: found.end_time,
    ...(filters.length > 0 && { filter: filters.length > 1 ? `and(${filters.join(", ")})` : filters[0] }),
    ...(cause.tree_filter !== null && { tree_filter: cause.tree_filter }),
    ...(change.measure === "latency" && { sort: "latency" }),
    ...(change.measure === "cost" && { sort: "total_cost" }),
  };
  return (
    <AnchorLink
      to="/projects/$projectId"
      params={{ projectId }}
      search={search as never}
      size="sm"
      aria-label={`${isErrors ? "Failed runs" : "Runs"} with ${cause.key ?? cause.dimension} ${cause.value}`}
    >
      {isErrors
        ? "Failed runs"
        : change.measure === "latency"
          ? "Slowest runs"
          : change.measure === "cost"
            ? "Most expensive runs"
            : "Runs"}
    </AnchorLink>
  );
}
