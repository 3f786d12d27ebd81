import { Alert, Stack, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import { JsonView } from "../../ui/json-view.tsx";
import type { RunMapping } from "./run-mapping.ts";

interface ExamplePreviewProps {
  datasetId: string;
  runId: string;
  mapping: RunMapping | null;
}

/** The example that a run becomes, what the dataset has of it already, and what it has that is similar. */
export function ExamplePreview({ datasetId, runId, mapping }: ExamplePreviewProps) {
  const [settled] = useDebouncedValue(mapping, 300);
  const params = { path: { dataset_id: datasetId } };
  const preview = useQuery({
    queryKey: ["dataset", datasetId, "preview", runId, settled],
    queryFn: async ({ signal }) => {
      // a mapping of the run's own inputs and outputs precedes the one that the dataset remembers
      const body = {
        run_ids: [runId],
        mapping: settled ?? {},
        on_duplicate: "skip" as const,
        remember_mapping: false,
        dry_run: true,
      };
      const path = "/api/v1/datasets/{dataset_id}/examples-from-runs" as const;
      return (await data(traceApi.POST(path, { params, body, signal }))).results[0]!;
    },
    retry: false,
    placeholderData: keepPreviousData,
  });
  const inputs = preview.data?.example?.inputs;
  const similar = useQuery({
    queryKey: ["dataset", datasetId, "similar", inputs],
    queryFn: ({ signal }) => {
      const path = "/api/v1/datasets/{dataset_id}/similar-examples" as const;
      return data(traceApi.POST(path, { params, body: { inputs: inputs!, threshold: 0.6, limit: 3 }, signal }));
    },
    enabled: inputs !== undefined && preview.data?.duplicate_of === null,
    retry: false,
  });
  if (preview.error) {
    return (
      <Alert color="danger" role="alert" style={{ overflowWrap: "anywhere" }}>
        {preview.error.message}
      </Alert>
    );
  }
  const result = preview.data;
  if (!result) return <Text size="xs">Loading the preview…</Text>;
  const { example, missing, error, duplicate_of: same } = result;
  const count = similar.data?.matches.length ?? 0;
  return (
    <Stack gap={6} role="region" aria-label="Preview of the first run">
      {error !== null && (
        <Alert color="danger" py={6}>
          {error}
        </Alert>
      )}
      {missing.length > 0 && <Text size="xs">Not in the run: {missing.join(", ")}</Text>}
      {same !== null && (
        <Text size="xs">
          {same === "source_run"
            ? "The dataset has an example of this run."
            : "The dataset has an example with these inputs."}
        </Text>
      )}
      {count > 0 && (
        <Text size="xs">
          Similar examples in the dataset: {count} ({similar.data!.matches.map((m) => percent(m.similarity)).join(", ")}
          )
        </Text>
      )}
      <JsonView value={example} label="example" />
    </Stack>
  );
}

const percent = (share: number) => `${Math.round(share * 100)} %`;
