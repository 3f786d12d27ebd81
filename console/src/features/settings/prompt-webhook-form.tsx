import { Alert, Button, Checkbox, Group, MultiSelect, Select, Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import { FormModal } from "../../ui/form-modal.tsx";
import {
  promptOptionsQuery,
  type PromptWebhook,
  promptWebhooksQuery,
  type Trigger,
  TRIGGERS,
} from "./prompt-webhook-queries.ts";

interface PromptWebhookFormProps {
  /** Webhook to edit; null creates one. */
  webhook: PromptWebhook | null;
  onClose: () => void;
}

type Scope = "all" | "include" | "exclude";

const isUrl = (text: string): boolean => URL.canParse(text) && /^https?:/.test(text);

/** Form of a webhook, which can send a sample event before it is saved. */
export function PromptWebhookForm({ webhook, onClose }: PromptWebhookFormProps) {
  const client = useQueryClient();
  const { data: prompts = [] } = useQuery(promptOptionsQuery);
  const included = webhook?.include_prompts ?? [];
  const excluded = webhook?.exclude_prompts ?? [];
  const form = useForm({
    initialValues: {
      url: webhook?.url ?? "",
      headers: formatHeaders(webhook?.headers),
      triggers: [...(webhook?.triggers ?? ["commit"])] as Trigger[],
      scope: (included.length > 0 ? "include" : excluded.length > 0 ? "exclude" : "all") as Scope,
      prompts: included.length > 0 ? [...included] : [...excluded],
    },
  });
  const { url, triggers } = form.values;
  const toBody = (values: typeof form.values) => ({
    url: values.url.trim(),
    headers: parseHeaders(values.headers),
    triggers: values.triggers,
    include_prompts: values.scope === "include" ? values.prompts : [],
    exclude_prompts: values.scope === "exclude" ? values.prompts : [],
  });
  const save = async (values: typeof form.values) => {
    const body = toBody(values);
    if (webhook === null) await traceApi.POST("/api/v1/prompt-webhooks", { body });
    else {
      const params = { path: { webhook_id: webhook.id } };
      await traceApi.PATCH("/api/v1/prompt-webhooks/{webhook_id}", { params, body });
    }
    await client.invalidateQueries({ queryKey: promptWebhooksQuery.queryKey });
    onClose();
  };
  const test = useMutation({
    mutationFn: () =>
      data(
        traceApi.POST("/api/v1/prompt-webhooks/test", {
          body: { webhook: toBody(form.values), payload: samplePayload(triggers[0] ?? "commit") },
        }),
      ),
  });
  const failure = test.error?.message ?? test.data?.error;
  return (
    <FormModal
      title={webhook === null ? "New prompt webhook" : "Edit prompt webhook"}
      action={webhook === null ? "Create" : "Save"}
      form={form}
      isReady={isUrl(url.trim()) && triggers.length > 0}
      failure="Could not save the webhook"
      onSubmit={save}
      onClose={onClose}
    >
      <TextInput
        label="URL"
        placeholder="https://example.com/hook"
        required
        data-autofocus
        {...form.getInputProps("url")}
        error={url.trim() === "" || isUrl(url.trim()) ? null : "Enter an http or https URL"}
      />
      <Checkbox.Group label="Events" {...form.getInputProps("triggers")}>
        <Group gap="md" mt={4}>
          {(Object.keys(TRIGGERS) as Trigger[]).map((trigger) => (
            <Checkbox key={trigger} value={trigger} label={TRIGGERS[trigger]} size="sm" />
          ))}
        </Group>
      </Checkbox.Group>
      <Select
        label="Prompts"
        data={[
          { value: "all", label: "All prompts" },
          { value: "include", label: "Only these" },
          { value: "exclude", label: "All but these" },
        ]}
        allowDeselect={false}
        {...form.getInputProps("scope")}
      />
      {form.values.scope !== "all" && (
        <MultiSelect
          aria-label="Selected prompts"
          placeholder="Select prompts"
          data={prompts}
          searchable
          {...form.getInputProps("prompts")}
        />
      )}
      <Textarea
        label="Headers"
        description="One per line, as Name: value. Values are stored encrypted and masked afterwards."
        placeholder="Authorization: Bearer …"
        autosize
        minRows={2}
        maxRows={6}
        spellCheck={false}
        {...form.getInputProps("headers")}
      />
      <Group gap="xs">
        <Button
          size="xs"
          variant="default"
          disabled={!isUrl(url.trim())}
          loading={test.isPending}
          onClick={() => test.mutate()}
        >
          Send test event
        </Button>
      </Group>
      {test.data?.error === "" && (
        <Alert color="success" role="status">
          The receiver answered with {test.data.status_code}.
        </Alert>
      )}
      {failure && (
        <Alert color="danger" role="alert" title="The test failed" style={{ overflowWrap: "anywhere" }}>
          {failure}
        </Alert>
      )}
    </FormModal>
  );
}

const formatHeaders = (headers: unknown): string =>
  Object.entries((headers ?? {}) as Record<string, unknown>)
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join("\n");

/** @throws an error that names the line without a colon */
function parseHeaders(text: string): Record<string, string> {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(":");
      if (at < 1) throw new Error(`Headers: "${line.trim()}" is not a header. Write Name: value.`);
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}

const samplePayload = (event: Trigger) => ({
  event,
  prompt_id: "00000000-0000-0000-0000-000000000000",
  prompt_name: "test-prompt",
  manifest: {},
  commit_hash: "0".repeat(64),
  created_at: new Date().toISOString(),
  created_by: "test",
  ...(event !== "commit" && { tag_name: "production" }),
});
