import { Alert, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient, type UseQueryOptions } from "@tanstack/react-query";

import { BASE_PATH } from "../../api/base-path.ts";
import { CopyButton } from "../../ui/copy-button.tsx";

interface ShareLinkProps {
  /** Query for the token; null while it is not shared. */
  query: UseQueryOptions<string | null>;
  /** Kind of the shared item: `trace`. */
  noun: string;
  /** Data that readers with the link can see. */
  covers: string;
  /** Last part of the link's path. */
  kind: "r" | "d";
  begin: () => Promise<unknown>;
  end: () => Promise<unknown>;
}

/** Public link to an item, with a button that revokes it. */
export function ShareLink({ query, noun, covers, kind, ...calls }: ShareLinkProps) {
  const client = useQueryClient();
  const share = useQuery(query);
  const onSuccess = () => client.invalidateQueries({ queryKey: query.queryKey });
  const begin = useMutation({ mutationFn: calls.begin, onSuccess });
  const end = useMutation({ mutationFn: calls.end, onSuccess });
  const error = share.error ?? begin.error ?? end.error;
  const link = share.data == null ? null : `${location.origin}${BASE_PATH}/public/${share.data}/${kind}`;
  return (
    <Stack gap="xs">
      {error && (
        <Alert color="danger" role="alert">
          {error.message}
        </Alert>
      )}
      {link === null ? (
        <>
          <Text size="sm">Anyone with the link can view {covers} without signing in, until you stop sharing.</Text>
          <Button size="xs" loading={share.isPending || begin.isPending} onClick={() => begin.mutate()}>
            Create link
          </Button>
        </>
      ) : (
        <>
          <Group gap={4} wrap="nowrap">
            <TextInput size="xs" readOnly value={link} aria-label={`Link to the shared ${noun}`} style={{ flex: 1 }} />
            <CopyButton value={link} label="Copy link" />
          </Group>
          <Button size="xs" variant="default" loading={end.isPending} onClick={() => end.mutate()}>
            Stop sharing
          </Button>
        </>
      )}
    </Stack>
  );
}
