import { Alert, Button, Group, Input, Modal, Stack, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { data, traceApi } from "../../api/clients.ts";
import CodeEditor from "../../ui/code-editor.tsx";

/** Inputs and reference outputs as JSON. */
export function AddExample({ datasetId, onClose }: { datasetId: string; onClose: () => void }) {
  const client = useQueryClient();
  const [inputs, setInputs] = useState('{\n  "question": ""\n}');
  const [outputs, setOutputs] = useState("");
  const [split, setSplit] = useState("");
  const add = useMutation({
    mutationFn: () =>
      data(
        traceApi.POST("/api/v1/examples", {
          body: {
            dataset_id: datasetId,
            inputs: readObject(inputs, "Inputs"),
            ...(outputs.trim() !== "" && { outputs: readObject(outputs, "Reference outputs") }),
            ...(split.trim() !== "" && { split: split.trim() }),
          },
        }),
      ),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["dataset", datasetId] });
      onClose();
    },
  });
  return (
    <Modal opened onClose={onClose} size="lg" title="Add an example" closeButtonProps={{ title: "Close" }}>
      <Stack gap="sm">
        <Input.Wrapper label="Inputs" labelElement="div">
          <CodeEditor label="Inputs" value={inputs} onChange={setInputs} maxHeight="30vh" />
        </Input.Wrapper>
        <Input.Wrapper label="Reference outputs" labelElement="div" description="May be left empty">
          <CodeEditor label="Reference outputs" value={outputs} onChange={setOutputs} maxHeight="30vh" />
        </Input.Wrapper>
        <TextInput
          label="Split"
          placeholder="base"
          value={split}
          onChange={(event) => setSplit(event.currentTarget.value)}
        />
        {add.error && (
          <Alert color="red" role="alert" title="The example was not added">
            {add.error.message}
          </Alert>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button loading={add.isPending} onClick={() => add.mutate()}>
            Add
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function readObject(text: string, what: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).message}`, { cause: error });
  }
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw new Error(`${what} must be an object.`);
  return value as Record<string, unknown>;
}
