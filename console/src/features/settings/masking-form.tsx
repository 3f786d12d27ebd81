import { Checkbox, Code, Group, Select, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import { FormModal } from "../../ui/form-modal.tsx";
import { projectNamesQuery } from "../exports/queries.ts";
import { type Detector, DETECTORS, type Field, FIELDS, type MaskingRule, maskingQuery } from "./masking-queries.ts";

const SAMPLE = "Write to ada@example.com or call +44 20 7946 0958. password=hunter2-secret";
const ALL = "";

/** Form of a masking rule, which shows what it makes of a text. `rule`: null creates one. */
export function MaskingForm({ rule, onClose }: { rule: MaskingRule | null; onClose: () => void }) {
  const client = useQueryClient();
  const { data: projects = [] } = useQuery(projectNamesQuery);
  const form = useForm({
    initialValues: {
      name: rule?.name ?? "",
      project: rule?.project_id ?? ALL,
      fields: [...(rule?.fields ?? ["inputs", "outputs", "error", "events"])] as Field[],
      detectors: [...(rule?.detectors ?? ["secret", "email", "phone", "card", "iban"])] as Detector[],
      path: rule?.path ?? "",
      pattern: rule?.pattern ?? "",
      sample: SAMPLE,
    },
  });
  const { name, fields, detectors, pattern, sample } = form.values;
  const masksWhole = detectors.length === 0 && pattern === "";
  const save = async (values: typeof form.values) => {
    const body = {
      name: values.name.trim(),
      project_id: values.project === ALL ? null : values.project,
      fields: values.fields,
      detectors: values.detectors,
      path: values.path.trim(),
      pattern: values.pattern === "" ? null : values.pattern,
      replacement: rule?.replacement ?? null,
      is_enabled: rule?.is_enabled ?? true,
    };
    if (rule === null) await traceApi.POST("/api/v1/masking-rules", { body });
    else await traceApi.PATCH("/api/v1/masking-rules/{rule_id}", { params: { path: { rule_id: rule.id } }, body });
    await client.invalidateQueries({ queryKey: maskingQuery.queryKey });
    onClose();
  };
  return (
    <FormModal
      title={rule === null ? "New masking rule" : "Edit masking rule"}
      action={rule === null ? "Create" : "Save"}
      form={form}
      isReady={name.trim() !== "" && fields.length > 0}
      failure="Could not save the rule"
      onSubmit={save}
      onClose={onClose}
    >
      <TextInput label="Name" required data-autofocus {...form.getInputProps("name")} />
      <Select
        label="Project"
        data={[
          { value: ALL, label: "All projects" },
          ...projects.map(({ id, name: label }) => ({ value: id, label: label ?? id })),
        ]}
        allowDeselect={false}
        searchable
        {...form.getInputProps("project")}
      />
      <Checkbox.Group label="What is masked" {...form.getInputProps("detectors")}>
        <Group gap="md" mt={4}>
          {(Object.keys(DETECTORS) as Detector[]).map((value) => (
            <Checkbox key={value} value={value} label={DETECTORS[value]} size="sm" />
          ))}
        </Group>
      </Checkbox.Group>
      <Checkbox.Group label="Where" {...form.getInputProps("fields")}>
        <Group gap="md" mt={4}>
          {(Object.keys(FIELDS) as Field[]).map((value) => (
            <Checkbox key={value} value={value} label={FIELDS[value]} size="sm" />
          ))}
        </Group>
      </Checkbox.Group>
      <TextInput
        label="Path"
        description="Within the field, * for any name. Empty: everywhere."
        placeholder="messages.*.content"
        spellCheck={false}
        {...form.getInputProps("path")}
      />
      <TextInput label="Pattern" placeholder="CUST-[0-9]{6}" spellCheck={false} {...form.getInputProps("pattern")} />
      {masksWhole ? (
        <Text size="sm">The whole value at the path is masked.</Text>
      ) : (
        <Stack gap={4}>
          <Textarea label="Try a text" autosize maxRows={4} {...form.getInputProps("sample")} />
          <Preview detectors={detectors} pattern={pattern} sample={sample} />
        </Stack>
      )}
    </FormModal>
  );
}

function Preview(asked: { detectors: Detector[]; pattern: string; sample: string }) {
  const [{ detectors, pattern, sample }] = useDebouncedValue(asked, 300);
  const { data: masked, error } = useQuery({
    queryKey: ["masking-rules", "preview", detectors, pattern, sample],
    queryFn: ({ signal }) =>
      data(
        traceApi.POST("/api/v1/masking-rules/preview", {
          body: {
            rules: [
              { fields: ["inputs"], path: "", detectors, pattern: pattern === "" ? null : pattern, replacement: null },
            ],
            value: sample,
          },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
    retry: false,
  });
  return (
    <Code block aria-label="Masked text" style={{ whiteSpace: "pre-wrap" }}>
      {error ? error.message : typeof masked?.value === "string" ? masked.value : ""}
    </Code>
  );
}
