import { Alert, Button, Group, Input, Modal, Stack, TagsInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation, useQueryClient } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import CodeEditor from "../../ui/code-editor.tsx";
import { useFocusBack } from "../../ui/use-focus-back.ts";
import { changeExample } from "./change-example.ts";
import { type Example, readSplits } from "./queries.ts";

interface ExampleFormProps {
  datasetId: string;
  /** Example to edit; null adds a new one. */
  example: Example | null;
  /** Existing splits. */
  splits: string[];
  onClose: () => void;
}

const formatJson = (value: unknown): string => (value == null ? "" : JSON.stringify(value, null, 2));

/** Form for inputs and reference outputs as JSON, and the splits of an example. */
export function ExampleForm({ datasetId, example, splits, onClose }: ExampleFormProps) {
  useFocusBack();
  const client = useQueryClient();
  const form = useForm({
    initialValues: {
      inputs: example ? formatJson(example.inputs) : '{\n  "question": ""\n}',
      outputs: formatJson(example?.outputs),
      chosen: example ? readSplits(example) : [],
    },
  });
  const save = useMutation({
    mutationFn({ inputs, outputs, chosen }: typeof form.values) {
      const inputValue = readObject(inputs, "Inputs");
      const expected = outputs.trim() === "" ? undefined : readObject(outputs, "Reference outputs");
      if (example) {
        const before = { outputs: example.outputs, splits: readSplits(example) };
        const body = { inputs: inputValue, ...changeExample(before, { outputs: expected, splits: chosen }) };
        const params = { path: { example_id: example.id } };
        return data(traceApi.PATCH("/api/v1/examples/{example_id}", { params, body }));
      }
      const split = chosen.length > 0 ? { split: chosen } : {};
      const body = { dataset_id: datasetId, inputs: inputValue, ...(expected && { outputs: expected }), ...split };
      return data(traceApi.POST("/api/v1/examples", { body }));
    },
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["dataset", datasetId] });
      onClose();
    },
  });
  const failed = example ? "Could not save the example" : "Could not add the example";
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={example ? "Edit example" : "Add example"}
      closeButtonProps={{ title: "Close" }}
    >
      <Stack gap="sm">
        <Input.Wrapper label="Inputs" labelElement="div">
          <CodeEditor label="Inputs" maxHeight="30vh" {...form.getInputProps("inputs")} />
        </Input.Wrapper>
        <Input.Wrapper label="Reference outputs" labelElement="div" description="Optional">
          <CodeEditor label="Reference outputs" maxHeight="30vh" {...form.getInputProps("outputs")} />
        </Input.Wrapper>
        <TagsInput
          label="Splits"
          placeholder={form.values.chosen.length === 0 ? "base" : ""}
          data={splits}
          acceptValueOnBlur
          // below it the suggestions would cover the buttons
          comboboxProps={{ position: "top" }}
          {...form.getInputProps("chosen")}
        />
        {save.error && (
          <Alert color="danger" role="alert" title={failed}>
            {save.error.message}
          </Alert>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button loading={save.isPending} onClick={() => save.mutate(form.values)}>
            {example ? "Save" : "Add"}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function readObject(text: string, label: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`${label}: ${(error as Error).message}`, { cause: error });
  }
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw new Error(`${label} must be an object.`);
  return value as Record<string, unknown>;
}
