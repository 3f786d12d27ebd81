import { Autocomplete, Button, Group, Select, SimpleGrid, Stack, Switch, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useMemo, useState } from "react";

import { Filters } from "../../ui/filters.tsx";
import { ButtonLink } from "../../ui/links.tsx";
import { Page } from "../../ui/page.tsx";
import { TimeRangePicker } from "../../ui/time-range-picker.tsx";
import { projectQuery } from "../projects/queries.ts";
import { LlmCharts, ToolCharts, TraceCharts } from "./charts.tsx";
import { tagMovesQuery } from "./queries.ts";
import { TagMoves, toMarker } from "./tag-moves.tsx";
import { readGroup, type MonitoringSearch, monitoringRange, zoomRange } from "./monitoring-search.ts";

const route = getRouteApi("/_shell/projects/$projectId/monitoring");

export function MonitoringPage() {
  const { projectId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: project } = useQuery(projectQuery(projectId));
  const range = monitoringRange(search);
  const group = readGroup(search);
  const change = (changes: MonitoringSearch) => void navigate({ search: { ...search, ...changes }, replace: true });
  // in the history, so that "back" returns to the wider range
  const onZoom = (from: number, to: number) =>
    void navigate({ search: { ...search, last: undefined, ...zoomRange(from, to) } });
  const { data: moves } = useQuery(tagMovesQuery(range));
  const markers = useMemo(() => moves?.map(toMarker), [moves]);
  const common = { projectId, range, group, filter: search.filter, before: search.before === true, markers, onZoom };
  return (
    <Page
      isLate
      title={project ? `${project.name} monitoring` : "Monitoring"}
      actions={
        <>
          {"from" in range && (
            <Button
              size="xs"
              variant="subtle"
              onClick={() => change({ from: undefined, to: undefined, last: undefined })}
            >
              Reset range
            </Button>
          )}
          <Filters active={(search.group === undefined ? 0 : 1) + (search.before === true ? 1 : 0)}>
            <Switch
              size="xs"
              label="Compare with previous period"
              checked={search.before === true}
              onChange={(event) => change({ before: event.currentTarget.checked || undefined })}
            />
            <GroupPicker value={search.group} onChange={(value) => change({ group: value })} />
          </Filters>
          <TimeRangePicker
            value={range}
            onChange={(next) => change({ last: undefined, from: undefined, to: undefined, ...next })}
          />
          <ButtonLink to="/projects/$projectId/dashboard" params={{ projectId }} variant="default" size="xs">
            What got worse
          </ButtonLink>
          <ButtonLink to="/projects/$projectId" params={{ projectId }} variant="default" size="xs">
            Runs
          </ButtonLink>
        </>
      }
    >
      <Stack gap="lg">
        <Section title="Traces" note="Root runs">
          <TraceCharts {...common} />
        </Section>
        <Section title="LLM calls">
          <LlmCharts {...common} />
        </Section>
        <Section title="Tools" note="Top 5 by calls">
          <ToolCharts {...common} />
        </Section>
        {moves !== undefined && moves.length > 0 && <TagMoves moves={moves} />}
        <Text size="xs" c="dimmed">
          Times are in your time zone, {Intl.DateTimeFormat().resolvedOptions().timeZone}. Click a chart to view its
          runs at that time, or drag across it to zoom in.
        </Text>
      </Stack>
    </Page>
  );
}

function Section({ title, note, children }: { title: string; note?: string; children: React.ReactNode }) {
  return (
    <section>
      <Group gap={8} mb="xs" align="baseline">
        <Title order={2} size="h5">
          {title}
        </Title>
        {note !== undefined && (
          <Text size="xs" c="dimmed">
            {note}
          </Text>
        )}
      </Group>
      <SimpleGrid type="container" cols={{ base: 1, "640px": 2, "1100px": 3, "1800px": 4 }} spacing="sm">
        {children}
      </SimpleGrid>
    </section>
  );
}

const ATTRIBUTES = [
  { value: "", label: "Group by: none" },
  { value: "name", label: "Group by: name" },
  { value: "tag", label: "Group by: tag" },
  { value: "metadata", label: "Group by: metadata" },
];

function GroupPicker({
  value,
  onChange,
}: {
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}) {
  const path = /^metadata:(.+)$/.exec(value ?? "")?.[1];
  const [isAsking, setAsking] = useState(false);
  const [key, setKey] = useState(path ?? "");
  const isMetadata = isAsking || path !== undefined;
  return (
    <>
      <Select
        aria-label="Group by"
        size="xs"
        w={172}
        allowDeselect={false}
        data={ATTRIBUTES}
        value={isMetadata ? "metadata" : (value ?? "")}
        onChange={(next) => {
          setAsking(next === "metadata");
          if (next !== "metadata") onChange(next === "" || next === null ? undefined : next);
        }}
      />
      {isMetadata && (
        <Autocomplete
          aria-label="Metadata key"
          placeholder="key"
          size="xs"
          w={140}
          value={key}
          data={["user_id", "revision_id", "langgraph_node", "ls_model_name", "ls_provider"]}
          onChange={setKey}
          onOptionSubmit={(next) => onChange(`metadata:${next}`)}
          onBlur={() => onChange(key.trim() === "" ? undefined : `metadata:${key.trim()}`)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && key.trim() !== "") onChange(`metadata:${key.trim()}`);
          }}
        />
      )}
    </>
  );
}
