import { Badge, Code, Group, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { data, traceApi } from "../../api/clients.ts";
import { usePermission } from "./use-permission.ts";
import { useConfirm } from "../../ui/confirm.tsx";
import { EditAndDelete } from "../../ui/edit-and-delete.tsx";
import { Empty } from "../../ui/empty.tsx";
import { FailingReceivers } from "../../ui/failing-receivers.tsx";
import { counted } from "../../ui/format.ts";
import { LoadState } from "../../ui/load-state.tsx";
import { NewButton } from "../../ui/new-button.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { PromptWebhookForm } from "./prompt-webhook-form.tsx";
import { type PromptWebhook, promptWebhooksQuery, TRIGGERS } from "./prompt-webhook-queries.ts";

/** Receivers of events on prompts: new commits, new tags and moved tags. */
export function PromptWebhooks() {
  const client = useQueryClient();
  const { data: webhooks, error, refetch } = useQuery(promptWebhooksQuery);
  const { confirm, dialog } = useConfirm();
  const [edited, setEdited] = useState<PromptWebhook | "new" | null>(null);
  const denial = usePermission("prompts:update");
  if (!webhooks) return <LoadState query={{ error, refetch }} rows={4} />;
  const remove = ({ id, url }: PromptWebhook) =>
    confirm({
      title: "Delete this webhook?",
      body: `${url} gets no more events.`,
      action: "Delete",
      async run() {
        await traceApi.DELETE("/api/v1/prompt-webhooks/{webhook_id}", { params: { path: { webhook_id: id } } });
        await client.invalidateQueries({ queryKey: promptWebhooksQuery.queryKey });
      },
    });
  return (
    <>
      <FailingReceivers
        queryKey={["prompt-webhooks", "receivers"]}
        read={() => data(traceApi.GET("/api/v1/webhooks/receivers", {}))}
        retry={(origin) => traceApi.POST("/api/v1/webhooks/receivers/retry", { body: { origin } })}
        denial={denial}
      />
      <Group justify="space-between" mb="xs">
        <Text size="sm" c="dimmed" maw={680}>
          Each event is sent as a signed POST request and retried until the receiver answers. Use it to deploy, to test
          or to announce a prompt.
        </Text>
        <NewButton denial={denial} onClick={() => setEdited("new")}>
          New webhook
        </NewButton>
      </Group>
      {webhooks.length === 0 ? (
        <Empty title="No prompt webhooks yet">
          <Text size="sm">
            A receiver gets the prompt&apos;s name, the commit, its manifest and the tag as JSON, with the event in{" "}
            <Code>event</Code>.
          </Text>
        </Empty>
      ) : (
        <SimpleTable
          label="Prompt webhooks"
          rows={webhooks}
          rowKey={({ id }) => id}
          minWidth={780}
          columns={[
            { title: "URL", cell: ({ url }) => <Text size="sm">{url}</Text> },
            {
              title: "Events",
              cell: ({ triggers }) => (
                <Group gap={6}>
                  {(triggers ?? []).map((trigger) => (
                    <Badge key={trigger} size="sm" variant="default" tt="none" fw={500}>
                      {TRIGGERS[trigger]}
                    </Badge>
                  ))}
                </Group>
              ),
              width: 260,
            },
            { title: "Prompts", cell: (webhook) => <Text size="sm">{describePrompts(webhook)}</Text>, width: 140 },
            { title: "Created", cell: ({ created_at: at }) => <TimeText at={at} />, width: 110 },
            {
              title: "",
              cell: (webhook) =>
                denial === null && <EditAndDelete onEdit={() => setEdited(webhook)} onDelete={() => remove(webhook)} />,
              width: 170,
            },
          ]}
        />
      )}
      {edited !== null && (
        <PromptWebhookForm webhook={edited === "new" ? null : edited} onClose={() => setEdited(null)} />
      )}
      {dialog}
    </>
  );
}

function describePrompts({ include_prompts: included, exclude_prompts: excluded }: PromptWebhook): string {
  if (included && included.length > 0) return counted(included.length, "prompt");
  if (excluded && excluded.length > 0) return `All but ${excluded.length}`;
  return "All";
}
