import { Group, Text } from "@mantine/core";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";

import { data, traceApi } from "../../api/clients.ts";
import { Clipped } from "../../ui/clipped.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { count } from "../../ui/format.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { Filters } from "../../ui/filters.tsx";
import { LoadedList } from "../../ui/load-state.tsx";
import { NameForm } from "../../ui/name-form.tsx";
import { NewButton } from "../../ui/new-button.tsx";
import { Page } from "../../ui/page.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { useNewForm } from "../../ui/use-new-form.ts";
import { DATASET_SEARCH } from "./dataset-search.ts";
import { type Dataset, type DatasetSort, datasetsQuery } from "./queries.ts";
import { TagFilter } from "../resource-tags/resource-tags.tsx";
import { DatasetSample } from "../samples/sample-parts.tsx";

const COLUMNS: Column<Dataset>[] = [
  {
    id: "name",
    header: "Name",
    width: "minmax(180px, 1.4fr)",
    sortable: true,
    cell: ({ id, name }) => (
      <AnchorLink to="/datasets/$datasetId" params={{ datasetId: id }} size="sm" truncate>
        {name}
      </AnchorLink>
    ),
  },
  {
    id: "description",
    header: "Description",
    width: "minmax(160px, 2fr)",
    cell: ({ description }) => <Clipped text={description} />,
  },
  {
    id: "example_count",
    header: "Examples",
    width: "100px",
    align: "right",
    sortable: true,
    cell: (dataset) => count(dataset.example_count),
  },
  {
    id: "session_count",
    header: "Experiments",
    width: "120px",
    align: "right",
    sortable: true,
    cell: (dataset) => count(dataset.session_count),
  },
  {
    id: "last_session_start_time",
    header: "Last experiment",
    width: "140px",
    sortable: true,
    cell: (dataset) => <TimeText at={dataset.last_session_start_time} />,
  },
  {
    id: "modified_at",
    header: "Updated",
    width: "110px",
    sortable: true,
    cell: (dataset) => <TimeText at={dataset.modified_at} />,
  },
];

export function DatasetsPage() {
  const search = { ...DATASET_SEARCH, ...useSearch({ from: "/_shell/datasets/" }) };
  const navigate = useNavigate({ from: "/datasets/" });
  const [isNew, setNew] = useNewForm();
  const found = useInfiniteQuery(datasetsQuery(search));
  const datasets = useMemo(() => found.data?.pages.flat() ?? [], [found.data]);
  return (
    <Page title="Datasets" actions={<NewButton onClick={() => setNew(true)}>New dataset</NewButton>}>
      <Group gap="sm" mb="sm">
        <SearchField
          label="Search datasets by name"
          placeholder="Search by name"
          initial={search.text}
          onSearch={(text: string) => void navigate({ search: { ...search, text }, replace: true })}
        />
        <Filters active={search.tags === "" ? 0 : 1}>
          <TagFilter
            value={search.tags}
            onChange={(tags) => void navigate({ search: { ...search, tags }, replace: true })}
          />
        </Filters>
      </Group>
      <LoadedList
        query={found}
        rows={8}
        list={datasets}
        empty={
          <Empty title={search.text === "" && search.tags === "" ? "No datasets yet" : "No matching datasets"}>
            <Text size="sm" maw={520}>
              A dataset holds examples to evaluate an application with. Create one here, add runs from their traces, or
              create one with the SDK.
            </Text>
            {search.text === "" && <DatasetSample />}
          </Empty>
        }
      >
        <DataTable
          label="Datasets"
          columns={COLUMNS}
          rows={datasets}
          rowKey={({ id }) => id}
          sort={{ id: search.sort, desc: search.desc }}
          onSort={({ id, desc }) =>
            void navigate({ search: { ...search, sort: id as DatasetSort, desc }, replace: true })
          }
          onOpen={({ id }) => void navigate({ to: "/datasets/$datasetId", params: { datasetId: id } })}
          pages={found}
        />
      </LoadedList>
      {isNew && <NewDataset onClose={() => setNew(false)} />}
    </Page>
  );
}

function NewDataset({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  return (
    <NameForm
      title="New dataset"
      action="Create"
      onSubmit={async (body) => {
        const { id } = await data(traceApi.POST("/api/v1/datasets", { body }));
        await client.invalidateQueries({ queryKey: ["datasets"] });
        await navigate({ to: "/datasets/$datasetId", params: { datasetId: id } });
      }}
      onClose={onClose}
    />
  );
}
