import { Badge, Group, Select, Text } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";

import { Empty } from "../../ui/empty.tsx";
import { Filters } from "../../ui/filters.tsx";
import { AnchorLink } from "../../ui/links.tsx";
import { LoadedList } from "../../ui/load-state.tsx";
import { NewButton } from "../../ui/new-button.tsx";
import { Page } from "../../ui/page.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { useNewForm } from "../../ui/use-new-form.ts";
import { AssistantForm } from "./assistant-form.tsx";
import { type Assistant, type AssistantFilter, assistantsQuery, graphsQuery, isDefault } from "./queries.ts";

const route = getRouteApi("/_shell/a/$server/assistants/");

export function AssistantList() {
  const { server } = route.useParams();
  const filter = route.useSearch();
  const navigate = useNavigate();
  const list = useInfiniteQuery(assistantsQuery(server, filter));
  const [isCreating, setCreating] = useNewForm();
  const rows = list.data?.pages.flat() ?? [];
  const isFiltered = filter.name !== undefined || filter.graph !== undefined;
  return (
    <Page title="Assistants" actions={<NewButton onClick={() => setCreating(true)}>New assistant</NewButton>}>
      <AssistantFilters server={server} filter={filter} />
      <LoadedList
        query={list}
        list={rows}
        empty={
          <Empty title={isFiltered ? "No matching assistants" : "No assistants yet"}>
            <Text size="sm">
              {isFiltered
                ? "Clear the filters to see all assistants."
                : "The server creates one for each graph that it loads. Create more with different configurations."}
            </Text>
          </Empty>
        }
      >
        <SimpleTable
          label="Assistants"
          rows={rows}
          rowKey={({ assistant_id: id }) => id}
          columns={columns(server)}
          pages={list}
        />
      </LoadedList>
      {isCreating && (
        <AssistantForm
          server={server}
          onClose={() => setCreating(false)}
          onSaved={({ assistant_id: assistantId }) =>
            void navigate({ to: "/a/$server/assistants/$assistantId", params: { server, assistantId } })
          }
        />
      )}
    </Page>
  );
}

function AssistantFilters({ server, filter }: { server: string; filter: AssistantFilter }) {
  const navigate = route.useNavigate();
  const { data: graphs = [] } = useQuery(graphsQuery(server));
  const search = (text: string) =>
    void navigate({ search: (before) => ({ ...before, name: text || undefined }), replace: true });
  return (
    <Group gap="xs" mb="sm">
      <SearchField
        label="Search by name"
        placeholder="Search by name"
        initial={filter.name ?? ""}
        onSearch={search}
        width={220}
      />
      <Filters active={filter.graph === undefined ? 0 : 1}>
        <Select
          aria-label="Graph"
          placeholder="All graphs"
          size="xs"
          data={graphs}
          value={filter.graph ?? null}
          onChange={(graph) =>
            void navigate({ search: (before) => ({ ...before, graph: graph ?? undefined }), replace: true })
          }
          clearable
          searchable={graphs.length > 8}
          w={{ base: "100%", xs: 180 }}
        />
      </Filters>
    </Group>
  );
}

const columns = (server: string) => [
  {
    title: "Name",
    cell: (assistant: Assistant) => (
      <Group gap={6}>
        <AnchorLink
          to="/a/$server/assistants/$assistantId"
          params={{ server, assistantId: assistant.assistant_id }}
          size="sm"
          fw={500}
        >
          {assistant.name}
        </AnchorLink>
        {isDefault(assistant) && (
          <Badge size="xs" variant="default">
            default
          </Badge>
        )}
      </Group>
    ),
  },
  { title: "Graph", cell: ({ graph_id: id }: Assistant) => <Text size="sm">{id}</Text>, width: "20%" },
  {
    title: "Version",
    cell: ({ version }: Assistant) => <Text size="sm">{version}</Text>,
    width: 80,
    align: "right" as const,
  },
  {
    title: "Description",
    cell: ({ description }: Assistant) =>
      description === null ? (
        "–"
      ) : (
        <Text size="sm" c="dimmed" lineClamp={2}>
          {description}
        </Text>
      ),
    width: "30%",
  },
  { title: "Updated", cell: ({ updated_at: at }: Assistant) => <TimeText at={at} />, width: 110 },
];
