import { Button, Group, Select, Text, TextInput } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useMemo, useState } from "react";

import { data, traceApi } from "../../api/clients.ts";
import { Empty } from "../../ui/empty.tsx";
import { Filters } from "../../ui/filters.tsx";
import { LoadedList } from "../../ui/load-state.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { saveFile } from "../../ui/save-file.ts";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { nameOperation, nameResource, readOperation } from "./audit-names.ts";
import { type Activity, type AuditFilter, auditParams, auditQuery } from "./queries.ts";

const route = getRouteApi("/_shell/settings");
const DAY_MS = 86_400_000;
const SPANS = [
  { value: "1", label: "Last 24 hours" },
  { value: "7", label: "Last 7 days" },
  { value: "30", label: "Last 30 days" },
  { value: "365", label: "Last year" },
];

/** Log of changes, with the actor of each. */
export function AuditLog() {
  const { days = 7, operation, actor, target } = route.useSearch();
  const navigate = route.useNavigate();
  // fix the time range while paging, so that the pages are consistent
  const filter = useMemo((): AuditFilter => {
    const to = Date.now();
    const span = { from: new Date(to - days * DAY_MS).toISOString(), to: new Date(to + 60_000).toISOString() };
    return { ...span, operation, actor, target };
  }, [days, operation, actor, target]);
  const log = useInfiniteQuery(auditQuery(filter));
  const rows = log.data?.pages.flatMap(({ items }) => items) ?? [];
  const set = (change: {
    days?: number;
    operation?: string | undefined;
    actor?: string | undefined;
    target?: string | undefined;
  }) => void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  return (
    <>
      <Group gap="xs" mb="sm" align="end">
        <Select
          label="Time range"
          size="xs"
          data={SPANS}
          value={String(days)}
          allowDeselect={false}
          onChange={(value) => set({ days: Number(value) })}
          w={150}
        />
        <Filters active={[operation, actor, target].filter((it) => it !== undefined).length}>
          <FilterField
            label="Action"
            placeholder="Create API key"
            value={operation && nameOperation(operation)}
            onSet={(text) => set({ operation: text && readOperation(text) })}
          />
          <FilterField
            label="Actor"
            placeholder="Key or user ID"
            value={actor}
            onSet={(text) => set({ actor: text })}
          />
          <FilterField
            label="Resource"
            placeholder="Resource ID"
            value={target}
            onSet={(text) => set({ target: text })}
          />
        </Filters>
        <ExportButtons filter={filter} />
      </Group>
      <LoadedList
        query={log}
        list={rows}
        empty={<Empty title="No matching events">Choose a longer time range or clear a filter.</Empty>}
      >
        <SimpleTable
          label="Audit log"
          rows={rows}
          rowKey={({ metadata }) => metadata.uid}
          minWidth={900}
          columns={COLUMNS}
          pages={log}
        />
      </LoadedList>
    </>
  );
}

interface FilterFieldProps {
  label: string;
  placeholder: string;
  value: string | undefined;
  onSet: (text: string | undefined) => void;
}

/** Filter field, applied on Enter or blur. */
function FilterField({ label, placeholder, value, onSet }: FilterFieldProps) {
  const [text, setText] = useState(value ?? "");
  const apply = () => {
    const next = text.trim() === "" ? undefined : text.trim();
    if (next !== value) onSet(next);
  };
  return (
    <TextInput
      label={label}
      placeholder={placeholder}
      size="xs"
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={apply}
      onKeyDown={(event) => event.key === "Enter" && apply()}
      style={{ flex: "1 1 150px", maxWidth: 220 }}
    />
  );
}

function ExportButtons({ filter }: { filter: AuditFilter }) {
  const save = useMutation({
    async mutationFn(format: "csv" | "ndjson") {
      const params = { query: { ...auditParams(filter), format } };
      const content = await data(traceApi.GET("/api/v1/audit-logs/export", { params, parseAs: "blob" }));
      saveFile(content as unknown as Blob, `audit-log.${format}`);
    },
    onError: notifyFailure("Could not export the audit log"),
  });
  return (
    <Group gap={4} ms="auto">
      {(["csv", "ndjson"] as const).map((format) => (
        <Button
          key={format}
          size="xs"
          variant="default"
          leftSection={<IconDownload size={14} aria-hidden />}
          loading={save.isPending && save.variables === format}
          onClick={() => save.mutate(format)}
        >
          {format === "csv" ? "CSV" : "JSONL"}
        </Button>
      ))}
    </Group>
  );
}

const COLUMNS = [
  {
    title: "Time",
    cell: ({ time }: Activity) => <TimeText at={new Date(time).toISOString()} />,
    width: 100,
  },
  {
    title: "Actor",
    cell: ({ unmapped, actor }: Activity) => (
      <>
        <Text size="sm">{unmapped.actor_name === "" ? unmapped.actor_kind : unmapped.actor_name}</Text>
        <Text size="xs" c="dimmed" ff="monospace">
          {(actor.user.credential_uid ?? actor.user.uid)?.slice(-12)}
        </Text>
      </>
    ),
    width: "18%",
  },
  {
    title: "Action",
    cell: ({ api, http_request: request }: Activity) => (
      <>
        <Text size="sm">{nameOperation(api.operation)}</Text>
        <Text size="xs" c="dimmed" ff="monospace" title={api.operation}>
          {request.http_method} {request.url.path}
        </Text>
      </>
    ),
  },
  {
    title: "Resource",
    cell: ({ unmapped }: Activity) =>
      Object.entries(unmapped.target).map(([name, value]) => (
        <Text key={name} size="xs" ff="monospace">
          {nameResource(name)} {value}
        </Text>
      )),
    width: "26%",
  },
  {
    title: "IP address",
    cell: ({ src_endpoint: from }: Activity) => <Text size="sm">{from.ip ?? "–"}</Text>,
    width: 120,
  },
  {
    title: "Result",
    cell: ({ status, http_response: { code } }: Activity) => (
      <Group gap={6}>
        <StatusBadge status={status === "Success" ? "success" : "error"} />
        <Text size="xs" c="dimmed">
          {code}
        </Text>
      </Group>
    ),
    width: 140,
  },
];
