import { Alert, Button, Group, Modal, SegmentedControl, Select, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { data, traceApi } from "../../api/clients.ts";
import { notifyDone } from "../../ui/notify.ts";
import { useFocusBack } from "../../ui/use-focus-back.ts";
import type { Run } from "../runs/run-record.ts";
import { datasetChoicesQuery } from "./queries.ts";

/** Form that copies the run's inputs and outputs to a new example of a dataset, with a reference to the run. */
export function AddToDataset({ run, onClose }: { run: Run; onClose: () => void }) {
  useFocusBack();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [mode, setMode] = useState<"known" | "new">("known");
  const [datasetId, setDatasetId] = useState<string | null>(null);
  const [name, setName] = useState("");
  const [split, setSplit] = useState("");
  const datasets = useQuery(datasetChoicesQuery);
  const add = useMutation({
    mutationFn: async () => {
      const id =
        mode === "known"
          ? datasetId!
          : (await data(traceApi.POST("/api/v1/datasets", { body: { name: name.trim() } }))).id;
      await data(
        traceApi.POST("/api/v1/examples", {
          body: {
            dataset_id: id,
            source_run_id: run.id,
            use_source_run_io: true,
            ...(split.trim() !== "" && { split: split.trim() }),
          },
        }),
      );
      return id;
    },
    onSuccess: async (id) => {
      onClose();
      notifyDone("Example added");
      await Promise.all([
        client.invalidateQueries({ queryKey: ["datasets"] }),
        client.invalidateQueries({ queryKey: ["dataset", id] }),
        client.invalidateQueries({ queryKey: ["run", run.id] }),
      ]);
      await navigate({ to: "/datasets/$datasetId", params: { datasetId: id } });
    },
  });
  const isReady = mode === "known" ? datasetId !== null : name.trim() !== "";
  return (
    <Modal opened onClose={onClose} title="Add to dataset" closeButtonProps={{ title: "Close" }}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) add.mutate();
        }}
      >
        <Stack gap="sm">
          <SegmentedControl
            size="xs"
            aria-label="Existing or new dataset"
            value={mode}
            onChange={(next) => setMode(next as "known" | "new")}
            data={[
              { value: "known", label: "Existing" },
              { value: "new", label: "New" },
            ]}
          />
          {mode === "known" ? (
            <Select
              label="Dataset"
              searchable
              placeholder={datasets.isPending ? "Loading…" : "Select a dataset"}
              nothingFoundMessage="No matching datasets"
              data={(datasets.data ?? []).map((dataset) => ({ value: dataset.id, label: dataset.name }))}
              value={datasetId}
              onChange={setDatasetId}
              error={datasets.error?.message}
            />
          ) : (
            <TextInput label="Name" required value={name} onChange={({ currentTarget: { value } }) => setName(value)} />
          )}
          <TextInput
            label="Split"
            placeholder="base"
            value={split}
            onChange={({ currentTarget: { value } }) => setSplit(value)}
          />
          <Text size="xs" c="dimmed">
            The run&apos;s input becomes the example&apos;s input, its output the reference output.
          </Text>
          {add.error && (
            <Alert color="red" role="alert" title="Could not add the example">
              {add.error.message}
            </Alert>
          )}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" disabled={!isReady} loading={add.isPending}>
              Add
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
