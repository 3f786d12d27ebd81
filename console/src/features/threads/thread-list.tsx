import { Checkbox, Chip, Group, Pagination, Select, Stack, Text, TextInput } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useDebouncedCallback } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { Empty } from "../../ui/empty.tsx";
import { count } from "../../ui/format.ts";
import { AnchorLink, ButtonLink } from "../../ui/links.tsx";
import { Filters } from "../../ui/filters.tsx";
import { LoadedList } from "../../ui/load-state.tsx";
import { Page } from "../../ui/page.tsx";
import { ShortId } from "../../ui/short-id.tsx";
import { type SimpleColumn, SimpleTable } from "../../ui/simple-table.tsx";
import { StatusBadge, statusWords } from "../../ui/status-badge.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { isUuid, readMetadata, STATUSES, type ThreadListSearch } from "./read-thread-search.ts";
import { PAGE, threadCountsQuery, type ThreadLine, threadListQuery, assistantsQuery } from "./queries.ts";
import { previewThread } from "./thread-preview.ts";
import { RunSample } from "../samples/sample-parts.tsx";

const route = getRouteApi("/_shell/a/$server/threads/");
const SORTS = [
  { value: "updated_at desc", label: "Recently active" },
  { value: "updated_at asc", label: "Least recently active" },
  { value: "created_at desc", label: "Newest" },
  { value: "created_at asc", label: "Oldest" },
  { value: "status asc", label: "Status" },
];

export function ThreadList() {
  const { server } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const list = useQuery(threadListQuery(server, search));
  const { threads = [], total = null } = list.data ?? {};
  const counts = useQuery(threadCountsQuery(server, search));
  const assistants = useQuery(assistantsQuery(server));
  const go = (next: Partial<ThreadListSearch>) =>
    void navigate({ search: (before) => ({ ...before, page: undefined, ...next }), replace: true });
  const goLater = useDebouncedCallback(go, 300);
  const { sort = "updated_at", order = "desc", page = 1 } = search;
  const isFiltered = Object.keys(search).some((key) => !["sort", "order", "page"].includes(key));
  const [marked, setMarked] = useState<readonly string[]>([]);
  const toggle = (id: string) =>
    setMarked(marked.includes(id) ? marked.filter((other) => other !== id) : [...marked, id].slice(-2));
  const graphs = new Map((assistants.data ?? []).map((assistant) => [assistant.assistant_id, assistant.name]));
  return (
    <Page
      title="Threads"
      actions={
        <>
          {marked.length === 2 && (
            <ButtonLink
              to="/a/$server/threads/$threadId"
              params={{ server, threadId: marked[0]! }}
              search={{ tab: "compare", against: marked[1]! }}
              size="xs"
              variant="default"
            >
              Compare 2 threads
            </ButtonLink>
          )}
          <ButtonLink
            to="/a/$server/playground"
            params={{ server }}
            size="xs"
            leftSection={<IconPlus size={14} aria-hidden />}
          >
            New thread
          </ButtonLink>
        </>
      }
    >
      <Stack gap="sm">
        <StatusFilter
          counts={counts.data}
          value={search.status}
          onChange={(status) => go({ status: status as ThreadListSearch["status"] })}
        />
        <Group gap="xs" align="flex-start">
          <Filters active={[search.assistant, search.meta, search.id].filter((it) => it !== undefined).length}>
            <Select
              size="xs"
              w={{ base: "100%", xs: 180 }}
              aria-label="Assistant"
              placeholder="All assistants"
              clearable
              searchable
              data={(assistants.data ?? []).map(({ assistant_id: value, name }) => ({ value, label: name }))}
              value={search.assistant ?? null}
              onChange={(assistant) => go({ assistant: assistant ?? undefined })}
            />
            <FilterInput
              label="Metadata"
              placeholder="Metadata: key=value"
              value={search.meta}
              validate={(text) => (readMetadata(text) ? null : "Use key=value")}
              onChange={(meta) => goLater({ meta })}
            />
            <FilterInput
              label="Thread ID"
              placeholder="Thread ID"
              value={search.id}
              validate={(text) => (isUuid(text) ? null : "Enter a full thread ID")}
              onChange={(id) => goLater({ id })}
            />
            <Select
              size="xs"
              w={{ base: "100%", xs: 160 }}
              aria-label="Sort by"
              allowDeselect={false}
              data={SORTS}
              value={`${sort} ${order}`}
              onChange={(value) => {
                const [by, direction] = (value ?? "").split(" ");
                go({ sort: by as ThreadListSearch["sort"], order: direction as "asc" | "desc" });
              }}
            />
          </Filters>
        </Group>
        <LoadedList
          query={list}
          rows={10}
          list={threads}
          empty={
            <Empty title={isFiltered ? "No matching threads" : "No threads yet"}>
              <Text size="sm">
                {isFiltered ? (
                  <AnchorLink to="." search={{}}>
                    Show all threads
                  </AnchorLink>
                ) : (
                  <>
                    Start one in the{" "}
                    <AnchorLink to="/a/$server/playground" params={{ server }}>
                      playground
                    </AnchorLink>
                    , or create runs with an SDK.
                  </>
                )}
              </Text>
              {!isFiltered && <RunSample server={server} />}
            </Empty>
          }
        >
          <>
            <SimpleTable
              label="Threads"
              columns={columns(server, graphs, { marked, toggle })}
              rows={threads}
              rowKey={(thread) => thread.thread_id}
              minWidth={820}
            />
            <Group justify="space-between">
              <Text size="sm" c="dimmed" className="numbers">
                {total === null ? "" : `${count(total)} threads`}
              </Text>
              <Pagination
                size="sm"
                total={Math.max(1, Math.ceil((total ?? 0) / PAGE))}
                value={page}
                onChange={(next) => go({ page: next > 1 ? next : undefined })}
                getControlProps={(control) => ({ "aria-label": `${control} page` })}
              />
            </Group>
          </>
        </LoadedList>
      </Stack>
    </Page>
  );
}

interface Marking {
  /** Threads to compare: two at most. */
  marked: readonly string[];
  toggle: (id: string) => void;
}

function columns(
  server: string,
  graphs: ReadonlyMap<string, string>,
  { marked, toggle }: Marking,
): SimpleColumn<ThreadLine>[] {
  return [
    {
      title: "Select",
      width: 64,
      cell: ({ thread_id: id }) => (
        <Checkbox
          size="xs"
          aria-label={`Select thread ${id.slice(-8)}`}
          checked={marked.includes(id)}
          onChange={() => toggle(id)}
        />
      ),
    },
    {
      title: "Thread",
      cell: (thread) => (
        <Group gap="xs" wrap="nowrap">
          <AnchorLink
            to="/a/$server/threads/$threadId"
            params={{ server, threadId: thread.thread_id }}
            size="sm"
            truncate
            dir="auto"
          >
            {previewThread(thread) || "No messages"}
          </AnchorLink>
          <ShortId id={thread.thread_id} />
        </Group>
      ),
    },
    { title: "Status", width: 150, cell: ({ status }) => <StatusBadge status={status} /> },
    {
      title: "Assistant",
      width: 160,
      cell: ({ metadata }) => {
        const { assistant_id: id, graph_id: graph } = (metadata ?? {}) as Record<string, string | undefined>;
        return <Text size="sm">{graphs.get(id ?? "") ?? graph ?? "–"}</Text>;
      },
    },
    { title: "Activity", width: 110, cell: ({ updated_at: at }) => <TimeText at={at} /> },
    { title: "Created", width: 110, cell: ({ created_at: at }) => <TimeText at={at} /> },
  ];
}

interface StatusFilterProps {
  /** Counts by status, and of `all`. */
  counts: Record<string, number> | undefined;
  value: string | undefined;
  onChange: (status: string | undefined) => void;
}

function StatusFilter({ counts, value, onChange }: StatusFilterProps) {
  return (
    <Chip.Group value={value ?? "all"} onChange={(next) => onChange(next === "all" ? undefined : next)}>
      <Group gap={6} role="group" aria-label="Status">
        {["all", ...STATUSES].map((status) => (
          <Chip key={status} value={status} size="xs" variant="outline">
            {statusWords(status)} <span className="numbers">{counts ? count(counts[status]) : "–"}</span>
          </Chip>
        ))}
      </Group>
    </Chip.Group>
  );
}

interface FilterInputProps {
  label: string;
  placeholder: string;
  value: string | undefined;
  validate: (text: string) => string | null;
  onChange: (value: string | undefined) => void;
}

function FilterInput({ label, placeholder, value, validate, onChange }: FilterInputProps) {
  const [text, setText] = useState(value ?? "");
  const problem = text.trim() === "" ? null : validate(text);
  return (
    <TextInput
      size="xs"
      w={{ base: "100%", xs: 200 }}
      aria-label={label}
      placeholder={placeholder}
      value={text}
      error={problem}
      onChange={({ currentTarget: { value: next } }) => {
        setText(next);
        if (next.trim() === "") onChange(undefined);
        else if (validate(next) === null) onChange(next.trim());
      }}
    />
  );
}
