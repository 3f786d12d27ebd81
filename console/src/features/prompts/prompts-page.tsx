import { Badge, Group, Select, Text } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";

import { TagFilter } from "../resource-tags/resource-tags.tsx";
import { usePermission } from "../settings/use-permission.ts";
import { Clipped } from "../../ui/clipped.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { count } from "../../ui/format.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { Filters } from "../../ui/filters.tsx";
import { LoadedList } from "../../ui/load-state.tsx";
import { NewButton } from "../../ui/new-button.tsx";
import { Page } from "../../ui/page.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { useNewForm } from "../../ui/use-new-form.ts";
import { Tags } from "../runs/run-columns.tsx";
import { PromptSample } from "../samples/sample-parts.tsx";
import { NewPrompt } from "./new-prompt.tsx";
import { PROMPT_SEARCH, type PromptSearch } from "./prompt-search.ts";
import { promptName, type PromptRow, promptsQuery, promptTagNamesQuery, shortHash } from "./queries.ts";

const COLUMNS: Column<PromptRow>[] = [
  {
    id: "name",
    header: "Name",
    width: "minmax(170px, 1.2fr)",
    cell: (row) => (
      <>
        <AnchorLink to="/prompts/$owner/$repo" params={promptName(row)} size="sm" truncate>
          {row.repo_handle}
        </AnchorLink>
        {row.repo_type !== "prompt" && <Mark>{row.repo_type}</Mark>}
        {row.is_public && <Mark>public</Mark>}
        {row.is_archived && <Mark>archived</Mark>}
      </>
    ),
  },
  {
    id: "description",
    header: "Description",
    width: "minmax(120px, 1.4fr)",
    cell: ({ description }) => <Clipped text={description} />,
  },
  {
    id: "commit_tags",
    header: "Commit tags",
    width: "minmax(180px, 1fr)",
    cell: ({ commit_tags: tags }) => <Tags tags={tags} />,
  },
  {
    id: "last_commit",
    header: "Last commit",
    width: "110px",
    cell: (row) =>
      row.last_commit_hash ? (
        <AnchorLink
          to="/prompts/$owner/$repo"
          params={promptName(row)}
          search={{ commit: row.last_commit_hash }}
          size="sm"
          ff="monospace"
        >
          {shortHash(row.last_commit_hash)}
        </AnchorLink>
      ) : (
        <Text size="sm" c="dimmed">
          None
        </Text>
      ),
  },
  { id: "tags", header: "Tags", width: "minmax(120px, 0.8fr)", cell: ({ tags }) => <Tags tags={tags} /> },
  { id: "num_commits", header: "Commits", width: "90px", align: "right", cell: (row) => count(row.num_commits) },
  {
    id: "updated_at",
    header: "Updated",
    width: "110px",
    sortable: true,
    cell: ({ updated_at: at }) => <TimeText at={at} />,
  },
];

const Mark = ({ children }: { children: string }) => (
  <Badge variant="default" size="sm" tt="none" fw={500} style={{ flexShrink: 0 }}>
    {children}
  </Badge>
);

const FILTERS = ["text", "tag", "type", "visibility", "archived", "tags"] as const;

export function PromptsPage() {
  const search: PromptSearch = { ...PROMPT_SEARCH, ...useSearch({ from: "/_shell/prompts/" }) };
  const navigate = useNavigate({ from: "/prompts/" });
  const [isNew, setNew] = useNewForm();
  const denial = usePermission("prompts:create");
  const found = useInfiniteQuery(promptsQuery(search));
  const prompts = useMemo(() => found.data?.pages.flatMap(({ repos }) => repos) ?? [], [found.data]);
  const change = (changes: Partial<PromptSearch>) =>
    void navigate({ search: { ...search, ...changes }, replace: true });
  const isFiltered = FILTERS.some((name) => search[name] !== PROMPT_SEARCH[name]);
  return (
    <Page
      title="Prompts"
      actions={
        <NewButton denial={denial} onClick={() => setNew(true)}>
          New prompt
        </NewButton>
      }
    >
      <PromptFilters search={search} onChange={change} />
      <LoadedList
        query={found}
        rows={8}
        list={prompts}
        empty={
          <Empty title={isFiltered ? "No matching prompts" : "No prompts yet"}>
            <Text size="sm" maw={560}>
              {isFiltered
                ? "Clear the filters to see all prompts."
                : "A prompt has commits, and tags such as production that name one of them. Running code pulls it by its tag. Create one here, or push one:"}
            </Text>
            {!isFiltered && <PromptSample />}
          </Empty>
        }
      >
        <DataTable
          label="Prompts"
          columns={COLUMNS}
          rows={prompts}
          rowKey={({ id }) => id}
          sort={{ id: search.sort, desc: search.desc }}
          onSort={({ id, desc }) => change({ sort: id as PromptSearch["sort"], desc })}
          onOpen={(row) => void navigate({ to: "/prompts/$owner/$repo", params: promptName(row) })}
          pages={found}
        />
      </LoadedList>
      {isNew && <NewPrompt onClose={() => setNew(false)} />}
    </Page>
  );
}

interface PromptFiltersProps {
  search: PromptSearch;
  onChange: (changes: Partial<PromptSearch>) => void;
}

function PromptFilters({ search, onChange }: PromptFiltersProps) {
  const { data: tags = [] } = useQuery(promptTagNamesQuery);
  const names = [...new Set([...tags.map(({ tag }) => tag), ...(search.tag === "" ? [] : [search.tag])])];
  const set = [search.tag, search.tags, search.type].filter((value) => value !== "").length;
  const active = set + (search.visibility === "all" ? 0 : 1) + (search.archived === "false" ? 0 : 1);
  return (
    <Group gap="xs" mb="sm">
      <SearchField
        label="Search prompts"
        placeholder="Search by name, description or README"
        initial={search.text}
        width={280}
        onSearch={(text: string) => onChange({ text })}
      />
      <Filters active={active}>
        <Select
          aria-label="Filter by tag"
          size="xs"
          w={150}
          searchable
          data={[{ value: "", label: "All tags" }, ...names]}
          value={search.tag}
          allowDeselect={false}
          onChange={(tag) => onChange({ tag: tag ?? "" })}
        />
        <TagFilter value={search.tags} onChange={(value) => onChange({ tags: value })} />
        <Select
          aria-label="Filter by type"
          size="xs"
          w={130}
          data={[
            { value: "", label: "All types" },
            { value: "prompt", label: "Prompts" },
            { value: "agent", label: "Agents" },
            { value: "skill", label: "Skills" },
            { value: "file", label: "Files" },
          ]}
          value={search.type}
          allowDeselect={false}
          onChange={(type) => onChange({ type: (type ?? "") as PromptSearch["type"] })}
        />
        <Select
          aria-label="Filter by visibility"
          size="xs"
          w={160}
          data={[
            { value: "all", label: "Private and public" },
            { value: "private", label: "Private" },
            { value: "public", label: "Public" },
          ]}
          value={search.visibility}
          allowDeselect={false}
          onChange={(visibility) => onChange({ visibility: visibility as PromptSearch["visibility"] })}
        />
        <Select
          aria-label="Archived prompts"
          size="xs"
          w={170}
          data={[
            { value: "false", label: "Without archived" },
            { value: "allow", label: "With archived" },
            { value: "true", label: "Only archived" },
          ]}
          value={search.archived}
          allowDeselect={false}
          onChange={(archived) => onChange({ archived: archived as PromptSearch["archived"] })}
        />
      </Filters>
    </Group>
  );
}
