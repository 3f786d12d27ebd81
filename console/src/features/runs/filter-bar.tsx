import { ActionIcon, Box, Button, Group, Menu, TextInput, Tooltip } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconCheck, IconLink, IconPlus, IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { CopyButton } from "../../ui/copy-button.tsx";
import { Filters } from "../../ui/filters.tsx";
import { TimeRangePicker } from "../../ui/time-range-picker.tsx";
import { useCopy } from "../../ui/use-copy.ts";
import { FilterField } from "./filter-field.tsx";
import { conjoin } from "./conjoin.ts";
import { QuickFilters } from "./quick-filters.tsx";
import { RangeFilter } from "./range-filter.tsx";
import { searchRange, type RunSearch } from "./run-search.ts";
import { facetsQuery } from "./facet-queries.ts";
import { useFirstPage } from "./use-first-page.ts";
import { ViewsMenu } from "./views-menu.tsx";

/** Additional filters: on the root of the trace, or on any run of it. */
const MORE = { trace_filter: "Root run where", tree_filter: "Any run in the trace where" } as const;
type More = keyof typeof MORE;

interface FilterBarProps {
  projectId: string;
  search: RunSearch;
  onChange: (changes: Partial<RunSearch>) => void;
}

export function FilterBar({ projectId, search, onChange }: FilterBarProps) {
  // facets are counted over all runs of the time range: only for readers who reach for the filters
  const [isUsed, setUsed] = useState(false);
  const hasFirstPage = useFirstPage(projectId, search);
  const { data: found, isPending } = useQuery({ ...facetsQuery(projectId, search), enabled: isUsed && hasFirstPage });
  const facets = found ?? [];
  const [added, setAdded] = useState<readonly More[]>([]);
  const hasMore = search.tab !== "threads";
  const shown = (Object.keys(MORE) as More[]).filter((key) => hasMore && (search[key] !== "" || added.includes(key)));
  const addable = (Object.keys(MORE) as More[]).filter((key) => hasMore && !shown.includes(key));
  const noun = search.tab === "threads" ? "Turns where" : search.tab === "traces" ? "Traces where" : "Runs where";
  return (
    <Box my="sm" onPointerEnter={() => setUsed(true)} onFocusCapture={() => setUsed(true)}>
      <Group gap="xs">
        <TextSearch value={search.text} onChange={(text) => onChange({ text })} />
        <TimeRangePicker
          value={searchRange(search)}
          onChange={(range) => onChange("last" in range ? { last: range.last, from: "", to: "" } : range)}
        />
        <Filters active={[search.filter, search.trace_filter, search.tree_filter].filter((it) => it !== "").length}>
          <QuickFilters
            facets={facets}
            isPending={isPending}
            onPick={({ query, isTree }) => {
              const key = isTree && hasMore ? "tree_filter" : "filter";
              onChange({ [key]: conjoin(search[key], query) });
            }}
          />
          {hasMore && <RangeFilter projectId={projectId} search={search} onChange={onChange} />}
          <ViewsMenu projectId={projectId} search={search} onChange={onChange} />
          {addable.length > 0 && (
            <Menu position="bottom-start">
              <Menu.Target>
                <Button variant="subtle" color="neutral" size="xs" leftSection={<IconPlus size={14} aria-hidden />}>
                  Trace filter
                </Button>
              </Menu.Target>
              <Menu.Dropdown>
                {addable.map((key) => (
                  <Menu.Item key={key} onClick={() => setAdded([...added, key])}>
                    {MORE[key]} …
                  </Menu.Item>
                ))}
              </Menu.Dropdown>
            </Menu>
          )}
          <CopyLink />
          <Box w="100%">
            <FilterField label={noun} value={search.filter} onApply={(filter) => onChange({ filter })} facts={facets}>
              {search.filter !== "" && <CopyButton value={search.filter} label="Copy filter" />}
            </FilterField>
          </Box>
          {shown.map((key) => (
            <Box key={key} w="100%">
              <FilterField
                label={MORE[key]}
                value={search[key]}
                facts={facets}
                onApply={(filter) => {
                  if (filter === "") setAdded(added.filter((other) => other !== key));
                  onChange({ [key]: filter });
                }}
              />
            </Box>
          ))}
        </Filters>
      </Group>
    </Box>
  );
}

/** Copies a link. The URL contains all filters, so it shows the same to every reader with access to the project. */
function CopyLink() {
  const { copied, copy } = useCopy();
  const Icon = copied ? IconCheck : IconLink;
  return (
    <Tooltip label={copied ? "Copied" : "Copy a link to this view"}>
      <ActionIcon
        variant="subtle"
        color="neutral"
        size="md"
        aria-label={copied ? "Copied" : "Copy link"}
        onClick={() => copy(location.href)}
      >
        <Icon size={14} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}

function TextSearch({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  const [text, setText] = useState(value);
  const reported = useRef(value);
  useEffect(() => {
    // the URL was changed elsewhere
    if (value !== reported.current) setText(value);
    reported.current = value;
  }, [value]);
  const tell = useDebouncedCallback((next: string) => {
    reported.current = next;
    onChange(next);
  }, 350);
  return (
    <TextInput
      aria-label="Search runs"
      placeholder="Search inputs, outputs, errors…"
      leftSection={<IconSearch size={14} aria-hidden />}
      size="xs"
      w={{ base: "100%", xs: 280 }}
      value={text}
      onChange={({ currentTarget: { value: next } }) => {
        setText(next);
        tell(next);
      }}
    />
  );
}
