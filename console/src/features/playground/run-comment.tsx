import { ActionIcon, Button, Group, Popover, Stack, Textarea, Tooltip } from "@mantine/core";
import { IconMessage, IconMessageFilled } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { traceApi } from "../../api/clients.ts";
import { notifyFailure } from "../../ui/notify.ts";
import type { GivenFeedback } from "../threads/queries.ts";

/** The comment of a rating: what was good or bad about the reply. */
export function RunComment({ feedback }: { feedback: GivenFeedback }) {
  const client = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const [text, setText] = useState(feedback.comment ?? "");
  const hasComment = (feedback.comment ?? "") !== "";
  const save = useMutation({
    mutationFn: () =>
      traceApi.PATCH("/api/v1/feedback/{feedback_id}", {
        params: { path: { feedback_id: feedback.id } },
        body: { comment: text.trim() },
      }),
    onError: notifyFailure("Could not save the comment"),
    async onSuccess() {
      setOpen(false);
      await client.invalidateQueries({ queryKey: ["trace", "feedback"] });
    },
  });
  const label = hasComment ? "Edit comment" : "Add comment";
  const Icon = hasComment ? IconMessageFilled : IconMessage;
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" width={320} trapFocus withRoles shadow="md">
      <Popover.Target>
        <Tooltip label={hasComment ? feedback.comment : label} disabled={isOpen}>
          <ActionIcon variant="subtle" color="neutral" size="sm" aria-label={label} onClick={() => setOpen(!isOpen)}>
            <Icon size={14} />
          </ActionIcon>
        </Tooltip>
      </Popover.Target>
      <Popover.Dropdown aria-label={label}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            save.mutate();
          }}
        >
          <Stack gap="xs">
            <Textarea
              label="Comment"
              description="Kept with the rating, as feedback on the run"
              autosize
              minRows={2}
              maxRows={8}
              data-autofocus
              value={text}
              onChange={({ currentTarget }) => setText(currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
                event.preventDefault();
                save.mutate();
              }}
            />
            <Group gap="xs">
              <Button type="submit" size="xs" loading={save.isPending}>
                Save
              </Button>
              <Button size="xs" variant="default" onClick={() => setOpen(false)}>
                Cancel
              </Button>
            </Group>
          </Stack>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}
