import { Alert, Button, Group, Popover, Stack, Text, TextInput } from "@mantine/core";
import { IconShare } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import { CopyButton } from "../../ui/copy-button.tsx";

/** A link by which anybody may read the dataset, and its end. */
export function DatasetShare({ datasetId }: { datasetId: string }) {
  return (
    <Popover position="bottom-end" width={340} trapFocus>
      <Popover.Target>
        <Button size="xs" variant="default" leftSection={<IconShare size={14} aria-hidden />}>
          Share
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Sharing datasetId={datasetId} />
      </Popover.Dropdown>
    </Popover>
  );
}

function Sharing({ datasetId }: { datasetId: string }) {
  const client = useQueryClient();
  const params = { path: { dataset_id: datasetId } };
  const key = ["share-dataset", datasetId];
  const share = useQuery({
    queryKey: key,
    queryFn: async () =>
      (await traceApi.GET("/api/v1/datasets/{dataset_id}/share", { params })).data?.share_token ?? null,
  });
  const refresh = () => client.invalidateQueries({ queryKey: key });
  const begin = useMutation({
    mutationFn: () => data(traceApi.PUT("/api/v1/datasets/{dataset_id}/share", { params })),
    onSuccess: refresh,
  });
  const end = useMutation({
    mutationFn: () => traceApi.DELETE("/api/v1/datasets/{dataset_id}/share", { params }),
    onSuccess: refresh,
  });
  const error = share.error ?? begin.error ?? end.error;
  const link = share.data == null ? null : `${location.origin}/public/${share.data}/d`;
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
            Whoever has the link may read all examples and experiments, without signing in, until you stop sharing.
          </Text>
          <Button size="xs" loading={share.isPending || begin.isPending} onClick={() => begin.mutate()}>
            Make a link
          </Button>
        </>
      ) : (
        <>
          <Group gap={4} wrap="nowrap">
            <TextInput size="xs" readOnly value={link} aria-label="Link to the shared dataset" style={{ flex: 1 }} />
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
