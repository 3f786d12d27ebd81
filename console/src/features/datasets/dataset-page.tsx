import { ActionIcon, Button, Group, Menu, Tabs, Text, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconDots, IconPlus, IconSearch } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useCallback, useMemo, useState } from "react";

import { traceApi } from "../../api/clients.ts";
import { useConfirm } from "../../ui/confirm.tsx";
import { count } from "../../ui/format.ts";
import { Loading } from "../../ui/loading.tsx";
import { Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { ComparisonTable } from "./comparison-table.tsx";
import { DatasetShare } from "./dataset-share.tsx";
import { type DatasetTab, experimentIds, ONE_DATASET_SEARCH, type OneDatasetSearch } from "./dataset-search.ts";
import { datasetQuery, type Example, examplesQuery } from "./datasets-api.ts";
import { ExamplesTable } from "./examples-table.tsx";
import { ExperimentsTable } from "./experiments-table.tsx";

const AddExample = lazy(async () => ({ default: (await import("./add-example.tsx")).AddExample }));

export function DatasetPage() {
  const { datasetId } = useParams({ from: "/_shell/datasets/$datasetId" });
  const search: OneDatasetSearch = { ...ONE_DATASET_SEARCH, ...useSearch({ from: "/_shell/datasets/$datasetId" }) };
  const navigate = useNavigate({ from: "/datasets/$datasetId" });
  const dataset = useQuery(datasetQuery(datasetId));
  const change = (changes: Partial<OneDatasetSearch>) => void navigate({ search: { ...search, ...changes } });
  const compared = experimentIds(search.selectedSessions);
  if (dataset.error) return <Problem error={dataset.error} onRetry={dataset.refetch} />;
  return (
    <Page title={dataset.data?.name ?? "Dataset"} actions={<Actions datasetId={datasetId} />}>
      <Text size="sm" c="dimmed" mb="xs" mt={-8} mih={20}>
        {dataset.data &&
          [dataset.data.description, `${count(dataset.data.example_count)} examples`].filter(Boolean).join(" · ")}
      </Text>
      <Tabs
        value={search.tab}
        onChange={(tab) => change({ tab: (tab ?? "examples") as DatasetTab })}
        keepMounted={false}
      >
        <Tabs.List mb="sm">
          <Tabs.Tab value="examples">Examples</Tabs.Tab>
          <Tabs.Tab value="experiments">Experiments</Tabs.Tab>
          <Tabs.Tab value="compare">Compare{compared.length > 0 && ` (${compared.length})`}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="examples">
          <Examples datasetId={datasetId} text={search.text} onText={(text) => change({ text })} />
        </Tabs.Panel>
        <Tabs.Panel value="experiments">
          <ExperimentsTable
            datasetId={datasetId}
            selected={compared}
            onSelect={(ids) => void navigate({ search: { ...search, selectedSessions: ids.join(",") }, replace: true })}
            onCompare={() => change({ tab: "compare" })}
          />
        </Tabs.Panel>
        <Tabs.Panel value="compare">
          <ComparisonTable
            datasetId={datasetId}
            experiments={compared}
            onChoose={() => change({ tab: "experiments" })}
          />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

function Examples({ datasetId, text, onText }: { datasetId: string; text: string; onText: (text: string) => void }) {
  const client = useQueryClient();
  const { ask, dialog } = useConfirm();
  const [isAdding, setAdding] = useState(false);
  const found = useInfiniteQuery(examplesQuery(datasetId, text));
  const examples = useMemo(() => found.data?.pages.flat() ?? [], [found.data]);
  const tell = useDebouncedCallback(onText, 300);
  const remove = useCallback(
    ({ id }: Example) =>
      ask({
        title: "Delete this example?",
        body: "Earlier versions of the dataset keep it; the present one does not.",
        action: "Delete",
        run: async () => {
          await traceApi.DELETE("/api/v1/examples/{example_id}", { params: { path: { example_id: id } } });
          await client.invalidateQueries({ queryKey: ["dataset", datasetId] });
        },
      }),
    // `ask` only opens a dialog
    [client, datasetId],
  );
  return (
    <>
      <Group gap="xs" mb="sm" justify="space-between">
        <TextInput
          aria-label="Search the text of examples"
          placeholder="Search inputs and outputs"
          leftSection={<IconSearch size={14} aria-hidden />}
          size="xs"
          w={{ base: "100%", xs: 260 }}
          defaultValue={text}
          onChange={({ currentTarget: { value } }) => tell(value)}
        />
        <Button
          size="xs"
          variant="default"
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => setAdding(true)}
        >
          Add an example
        </Button>
      </Group>
      {found.error ? (
        <Problem error={found.error} onRetry={found.refetch} />
      ) : found.isPending ? (
        <Loading rows={8} />
      ) : (
        <ExamplesTable
          examples={examples}
          onDelete={remove}
          onEnd={() => void (found.hasNextPage && !found.isFetchingNextPage && found.fetchNextPage())}
        />
      )}
      {isAdding && (
        <Suspense>
          <AddExample datasetId={datasetId} onClose={() => setAdding(false)} />
        </Suspense>
      )}
      {dialog}
    </>
  );
}

function Actions({ datasetId }: { datasetId: string }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { data: dataset } = useQuery(datasetQuery(datasetId));
  const { ask, dialog } = useConfirm();
  return (
    <>
      <DatasetShare datasetId={datasetId} />
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size={30} aria-label="Actions of the dataset">
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            color="red"
            disabled={!dataset}
            onClick={() =>
              ask({
                title: `Delete ${dataset!.name}?`,
                body: "Its examples in all versions go with it and cannot be brought back. Experiments keep their runs.",
                action: "Delete",
                typed: dataset!.name,
                run: async () => {
                  const params = { path: { dataset_id: datasetId } };
                  await traceApi.DELETE("/api/v1/datasets/{dataset_id}", { params });
                  await navigate({ to: "/datasets" });
                  await client.invalidateQueries({ queryKey: ["datasets"] });
                },
              })
            }
          >
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {dialog}
    </>
  );
}
