import { Menu, Modal, Tabs, Text } from "@mantine/core";
import { IconDownload, IconTag } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";

import { data, traceApi } from "../../api/clients.ts";
import { ActionsMenu } from "../../ui/actions-menu.tsx";
import { useConfirm } from "../../ui/confirm.tsx";
import { count } from "../../ui/format.ts";
import { LoadState } from "../../ui/load-state.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { Page } from "../../ui/page.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { TabList } from "../../ui/tab-list.tsx";
import { RunExperimentButton } from "../experiment-runs/run-experiment-button.tsx";
import { Comparison } from "../experiments/comparison.tsx";
import { HistoryCharts } from "../experiments/history-charts.tsx";
import { ResourceTags } from "../resource-tags/resource-tags.tsx";
import { DatasetShare } from "./dataset-share.tsx";
import { type DatasetTab, experimentIds, ONE_DATASET_SEARCH, type OneDatasetSearch } from "./dataset-search.ts";
import { datasetQuery } from "./queries.ts";
import { Examples } from "./examples.tsx";
import { ExperimentsTable } from "./experiments-table.tsx";
import { Versions } from "./versions.tsx";

const NearDuplicates = lazy(async () => ({ default: (await import("./near-duplicates.tsx")).NearDuplicates }));
const Proposals = lazy(async () => ({ default: (await import("./proposals.tsx")).Proposals }));

export function DatasetPage() {
  const { datasetId } = useParams({ from: "/_shell/datasets/$datasetId" });
  const search: OneDatasetSearch = { ...ONE_DATASET_SEARCH, ...useSearch({ from: "/_shell/datasets/$datasetId" }) };
  const navigate = useNavigate({ from: "/datasets/$datasetId" });
  const dataset = useQuery(datasetQuery(datasetId));
  const change = (changes: Partial<OneDatasetSearch>) => void navigate({ search: { ...search, ...changes } });
  const compared = experimentIds(search.selectedSessions);
  if (dataset.isLoadingError) return <LoadState query={dataset} />;
  return (
    <Page title={dataset.data?.name ?? "Dataset"} actions={<Actions datasetId={datasetId} version={search.version} />}>
      <Text size="sm" c="dimmed" mb="xs" mt={-8} mih={20}>
        {dataset.data &&
          [dataset.data.description, `${count(dataset.data.example_count)} examples`].filter(Boolean).join(" · ")}
      </Text>
      <Tabs
        value={search.tab}
        onChange={(tab) => change({ tab: (tab ?? "examples") as DatasetTab })}
        keepMounted={false}
      >
        <TabList mb="sm">
          <Tabs.Tab value="examples">Examples</Tabs.Tab>
          <Tabs.Tab value="experiments">Experiments</Tabs.Tab>
          <Tabs.Tab value="history">History</Tabs.Tab>
          <Tabs.Tab value="compare">Compare{compared.length > 0 && ` (${compared.length})`}</Tabs.Tab>
          <Tabs.Tab value="versions">Versions</Tabs.Tab>
          <Tabs.Tab value="duplicates">Near-duplicates</Tabs.Tab>
          <Tabs.Tab value="proposals">Proposals</Tabs.Tab>
        </TabList>
        <Tabs.Panel value="examples">
          <Examples datasetId={datasetId} search={search} onSearch={change} />
        </Tabs.Panel>
        <Tabs.Panel value="history">
          <HistoryCharts datasetId={datasetId} />
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
          <Comparison
            datasetId={datasetId}
            experiments={compared}
            search={{ baseline: search.baseline, order: search.order, only: search.only }}
            onSearch={change}
            onChoose={() => change({ tab: "experiments" })}
          />
        </Tabs.Panel>
        <Tabs.Panel value="versions">
          <Versions
            datasetId={datasetId}
            onOpen={(version) => change({ tab: "examples", version, text: "", split: "" })}
          />
        </Tabs.Panel>
        <Tabs.Panel value="duplicates">
          <Suspense>
            <NearDuplicates datasetId={datasetId} />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="proposals">
          <Suspense>
            <Proposals datasetId={datasetId} />
          </Suspense>
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

function Actions({ datasetId, version }: { datasetId: string; version: string }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { data: dataset } = useQuery(datasetQuery(datasetId));
  const { confirm, dialog } = useConfirm();
  const [isTagging, setTagging] = useState(false);
  // downloads the version that is shown
  const download = async (kind: "csv" | "jsonl") => {
    const params = { path: { dataset_id: datasetId }, query: version === "" ? {} : { as_of: version } };
    const content = await data(
      kind === "csv"
        ? traceApi.GET("/api/v1/datasets/{dataset_id}/csv", { params, parseAs: "blob" })
        : traceApi.GET("/api/v1/datasets/{dataset_id}/jsonl", { params, parseAs: "blob" }),
    );
    saveFile(content as unknown as Blob, `${dataset?.name ?? "dataset"}.${kind}`);
  };
  return (
    <>
      <RunExperimentButton datasetId={datasetId} />
      <DatasetShare datasetId={datasetId} />
      <ActionsMenu label="Dataset actions">
        {(["csv", "jsonl"] as const).map((kind) => (
          <Menu.Item
            key={kind}
            leftSection={<IconDownload size={14} aria-hidden />}
            onClick={() => void download(kind).catch(notifyFailure("Could not download the dataset"))}
          >
            {kind === "csv" ? "Download as CSV" : "Download as JSONL"}
          </Menu.Item>
        ))}
        <Menu.Item leftSection={<IconTag size={14} aria-hidden />} onClick={() => setTagging(true)}>
          Workspace tags
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item
          color="danger"
          disabled={!dataset}
          onClick={() =>
            confirm({
              title: `Delete ${dataset!.name}?`,
              body: "This permanently deletes its examples in all versions. Runs of its experiments are kept.",
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
      </ActionsMenu>
      <Modal opened={isTagging} onClose={() => setTagging(false)} title={dataset?.name ?? "Dataset"}>
        <ResourceTags resource_type="dataset" resource_id={datasetId} permission="datasets:update" />
      </Modal>
      {dialog}
    </>
  );
}
