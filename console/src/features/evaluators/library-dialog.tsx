import { Alert, Badge, Button, Group, Modal, Paper, SimpleGrid, Stack, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { data, traceApi } from "../../api/clients.ts";
import { LoadState } from "../../ui/load-state.tsx";
import { useFocusBack } from "../../ui/use-focus-back.ts";
import { type ModelChoice, NO_MODEL } from "../prompt-playground/draft.ts";
import { ModelPicker } from "../prompt-playground/model-picker.tsx";
import { usePermission } from "../settings/use-permission.ts";
import { AlignmentFigures } from "./alignment-figures.tsx";
import { libraryQuery, type LibraryEntry } from "./queries.ts";

interface LibraryDialogProps {
  onCreated: (id: string) => unknown;
  onClose: () => void;
}

/** Evaluators that ship with Heddle: creates them, and measures judges on their labelled examples. */
export function LibraryDialog({ onCreated, onClose }: LibraryDialogProps) {
  useFocusBack();
  const library = useQuery(libraryQuery);
  const [model, setModel] = useState<ModelChoice>(NO_MODEL);
  return (
    <Modal opened onClose={onClose} title="Library of evaluators" size="xl" closeButtonProps={{ title: "Close" }}>
      <Stack gap="sm">
        <Group gap="xs">
          <Text size="sm">Model of the judges:</Text>
          <ModelPicker letter="the judges" model={model} onChange={setModel} />
        </Group>
        <LoadState query={library} rows={8} />
        {library.data && (
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs">
            {library.data.evaluators.map((entry) => (
              <Entry key={entry.id} entry={entry} model={model} onCreated={onCreated} />
            ))}
          </SimpleGrid>
        )}
      </Stack>
    </Modal>
  );
}

const toModel = ({ connectionId, provider, model, parameters }: ModelChoice) => ({
  ...(connectionId === null ? { provider } : { connection_id: connectionId }),
  model,
  parameters,
});

function Entry({
  entry,
  model,
  onCreated,
}: {
  entry: LibraryEntry;
  model: ModelChoice;
  onCreated: (id: string) => unknown;
}) {
  const client = useQueryClient();
  const denial = usePermission("evaluators:create");
  const isJudge = entry.type === "llm";
  const isReady = !isJudge || model.model !== "";
  const create = useMutation({
    mutationFn: async () => {
      const body = { library_id: entry.id, ...(isJudge && { model: toModel(model) }) };
      const { evaluator } = await data(traceApi.POST("/v1/platform/evaluators/from-library", { body: body as never }));
      await client.invalidateQueries({ queryKey: ["evaluators"] });
      return onCreated(evaluator.id);
    },
  });
  const check = useMutation({
    mutationFn: () =>
      data(
        traceApi.POST("/v1/platform/evaluators/library/{library_id}/check", {
          params: { path: { library_id: entry.id } },
          body: { model: toModel(model) } as never,
        }),
      ),
  });
  const error = create.error ?? check.error;
  return (
    <Paper withBorder p="xs" role="group" aria-label={entry.name}>
      <Stack gap={6} h="100%">
        <Group justify="space-between" gap={6}>
          <Text size="sm" fw={600}>
            {entry.name}
          </Text>
          <Badge size="sm" variant="light" tt="none">
            {isJudge ? `Judge of a ${entry.subject}` : "Code"}
          </Badge>
        </Group>
        <Text size="sm" style={{ flex: 1 }}>
          {entry.description}
        </Text>
        {error && (
          <Alert color="danger" role="alert" p="xs">
            {error.message}
          </Alert>
        )}
        {check.data && (
          <>
            <AlignmentFigures alignment={check.data} />
            <Text size="xs" c="dimmed">
              {check.data.errors > 0 && `${check.data.errors} errors. `}
              Statistics of this model on {entry.labelled} examples.
              {check.data.cost_usd !== null && ` Cost: $${check.data.cost_usd}`}
            </Text>
          </>
        )}
        <Group gap={6} justify="flex-end">
          {isJudge && (
            <Button
              size="compact-xs"
              variant="default"
              disabled={!isReady || denial !== null}
              loading={check.isPending}
              onClick={() => check.mutate()}
            >
              Measure on {entry.labelled} examples
            </Button>
          )}
          <Button
            size="compact-xs"
            disabled={!isReady || denial !== null}
            title={isReady ? (denial ?? undefined) : "Select a model first"}
            loading={create.isPending}
            onClick={() => create.mutate()}
          >
            Create
          </Button>
        </Group>
      </Stack>
    </Paper>
  );
}
