import { ActionIcon, Alert, Button, Group, Popover, Stack, Text, TextInput } from "@mantine/core";
import { IconShare } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { data, traceApi } from "../../api/clients.ts";
import { CopyButton } from "../../ui/copy-button.tsx";

/** A link by which anybody may read the run's whole trace, and its end. */
export function ShareButton({ runId }: { runId: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" width={340} trapFocus>
      <Popover.Target>
        <ActionIcon variant="subtle" color="gray" aria-label="Share the trace" onClick={() => setOpen(!isOpen)}>
          <IconShare size={16} />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown>
        <Sharing runId={runId} />
      </Popover.Dropdown>
    </Popover>
  );
}

function Sharing({ runId }: { runId: string }) {
  const client = useQueryClient();
  const params = { path: { run_id: runId } };
  const key = ["share", runId];
  const share = useQuery({
    queryKey: key,
    // null, and no answer, is "not shared"
    queryFn: async () => (await traceApi.GET("/api/v1/runs/{run_id}/share", { params })).data?.share_token ?? null,
  });
  const refresh = () => client.invalidateQueries({ queryKey: key });
  const begin = useMutation({
    mutationFn: () => data(traceApi.PUT("/api/v1/runs/{run_id}/share", { params, body: { run_id: runId } })),
    onSuccess: refresh,
  });
  const end = useMutation({
    mutationFn: () => traceApi.DELETE("/api/v1/runs/{run_id}/share", { params }),
    onSuccess: refresh,
  });
  const error = share.error ?? begin.error ?? end.error;
  const link = share.data == null ? null : `${location.origin}/public/${share.data}/r`;
  return (
    <Stack gap="xs">
      {error && (
        <Alert color="red" role="alert">
          {error.message}
        </Alert>
      )}
      {link === null ? (
        <>
          <Text size="sm">
            Whoever has the link may read the whole trace with its feedback, without signing in, until you stop sharing.
          </Text>
          <Button size="xs" loading={share.isPending || begin.isPending} onClick={() => begin.mutate()}>
            Make a link
          </Button>
        </>
      ) : (
        <>
          <Group gap={4} wrap="nowrap">
            <TextInput size="xs" readOnly value={link} aria-label="Link to the shared trace" style={{ flex: 1 }} />
            <CopyButton value={link} label="Copy the link" />
          </Group>
          <Button size="xs" variant="default" loading={end.isPending} onClick={() => end.mutate()}>
            Stop sharing
          </Button>
        </>
      )}
    </Stack>
  );
}
