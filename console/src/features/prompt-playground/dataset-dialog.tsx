import {
  Alert,
  Button,
  Group,
  Modal,
  MultiSelect,
  NumberInput,
  SegmentedControl,
  Select,
  Stack,
  Text,
} from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { counted } from "../../ui/format.ts";
import { ButtonLink } from "../../ui/links.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { Progress } from "../../ui/progress.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { useFocusBack } from "../../ui/use-focus-back.ts";
import { judgeChoicesQuery } from "../experiment-runs/queries.ts";
import { datasetChoicesQuery } from "../traces/queries.ts";
import type { Draft } from "./draft.ts";
import { type Experiment, useExperiments } from "./use-experiments.ts";

const FEW = 10;
const MAX_REPETITIONS = 30;
const STATUS = { running: "running", done: "success", failed: "error", cancelled: "cancelled" } as const;

/** Dialog that runs every column over a dataset as an experiment each. */
export function DatasetDialog({ draft, onClose }: { draft: Draft; onClose: () => void }) {
  useFocusBack();
  const datasets = useQuery(datasetChoicesQuery);
  const [datasetId, setDatasetId] = useState<string | null>(null);
  const [extent, setExtent] = useState<"few" | "all">("few");
  const [repetitions, setRepetitions] = useState(1);
  const [evaluators, setEvaluators] = useState<string[]>([]);
  const choices = useQuery(judgeChoicesQuery);
  const [problem, setProblem] = useState<string | null>(null);
  const { experiments, start, cancel } = useExperiments();
  const isRunning = experiments.some(({ status }) => status === "running");
  const begin = () => {
    setProblem(null);
    try {
      start(draft, { datasetId: datasetId!, maxExamples: extent === "few" ? FEW : null, repetitions, evaluators });
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title="Run over a dataset"
      size="lg"
      closeOnClickOutside={!isRunning}
      closeButtonProps={{ title: "Close" }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (datasetId !== null && !isRunning) begin();
        }}
      >
        <Stack gap="sm">
          <Text size="sm" c="dimmed">
            Each column becomes an experiment. The examples&apos; inputs are the values of the variables. The
            experiments go on when this dialog is closed.
          </Text>
          <Select
            label="Dataset"
            searchable
            required
            data-autofocus
            disabled={isRunning}
            placeholder={datasets.isPending ? "Loading…" : "Select a dataset"}
            nothingFoundMessage="No matching datasets"
            comboboxProps={{ withinPortal: false }}
            data={(datasets.data ?? []).map(({ id, name, example_count: size }) => ({
              value: id,
              label: `${name} (${counted(size, "example")})`,
            }))}
            value={datasetId}
            onChange={setDatasetId}
            error={datasets.error?.message}
          />
          <Group gap="md" align="flex-end">
            <SegmentedControl
              size="xs"
              aria-label="Examples"
              disabled={isRunning}
              data={[
                { value: "few", label: `First ${FEW} examples` },
                { value: "all", label: "All examples" },
              ]}
              value={extent}
              onChange={(next) => setExtent(next as "few" | "all")}
            />
            <NumberInput
              size="xs"
              w={130}
              label="Repetitions"
              min={1}
              max={MAX_REPETITIONS}
              allowDecimal={false}
              disabled={isRunning}
              value={repetitions}
              onChange={(next) => setRepetitions(Math.max(1, Number(next) || 1))}
            />
          </Group>
          {(choices.data ?? []).length > 0 && (
            <MultiSelect
              label="Evaluators"
              searchable
              disabled={isRunning}
              comboboxProps={{ withinPortal: false }}
              data={choices.data ?? []}
              value={evaluators}
              onChange={setEvaluators}
            />
          )}
          {problem !== null && (
            <Alert color="danger" role="alert">
              {problem}
            </Alert>
          )}
          {experiments.map((experiment) => (
            <ExperimentProgress key={experiment.column} experiment={experiment} />
          ))}
          <Actions
            experiments={experiments}
            datasetId={datasetId}
            isRunning={isRunning}
            onCancel={() => void cancel().catch(notifyFailure("Could not cancel the experiments"))}
            onClose={onClose}
          />
        </Stack>
      </form>
    </Modal>
  );
}

function ExperimentProgress({ experiment }: { experiment: Experiment }) {
  const { column, model, status, done, total, errors, error } = experiment;
  return (
    <div role="group" aria-label={`Experiment of ${column}`}>
      <Group gap="xs" mb={2}>
        <Text size="sm" fw={500}>
          {column} · {model}
        </Text>
        <StatusBadge status={STATUS[status]} />
      </Group>
      <Progress label={`Examples of ${column}`} done={done} total={total} color={errors > 0 ? "warning" : "brand"}>
        {done} of {total ?? "…"}
        {errors > 0 && `, ${counted(errors, "error")}`}
      </Progress>
      {error !== null && (
        <Text size="sm" c="var(--heddle-danger)" role="alert">
          {error}
        </Text>
      )}
    </div>
  );
}

interface ActionsProps {
  experiments: Experiment[];
  datasetId: string | null;
  isRunning: boolean;
  onCancel: () => void;
  onClose: () => void;
}

function Actions({ experiments, datasetId, isRunning, onCancel, onClose }: ActionsProps) {
  const sessions = experiments.flatMap(({ sessionId }) => sessionId ?? []);
  if (isRunning) {
    return (
      <Group justify="flex-end">
        <Button color="danger" variant="outline" onClick={onCancel}>
          Cancel experiments
        </Button>
      </Group>
    );
  }
  return (
    <Group justify="flex-end" gap="xs">
      <Button variant="default" onClick={onClose}>
        Close
      </Button>
      {sessions.length > 0 && datasetId !== null && (
        <ButtonLink
          variant="default"
          to="/datasets/$datasetId"
          params={{ datasetId }}
          search={{ tab: "compare", selectedSessions: sessions.join(",") }}
        >
          Compare results
        </ButtonLink>
      )}
      <Button type="submit" disabled={datasetId === null}>
        {experiments.length > 0 ? "Run again" : "Run experiments"}
      </Button>
    </Group>
  );
}
