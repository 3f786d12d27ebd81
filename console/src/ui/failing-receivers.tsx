import { Alert, Group, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { notifyDone, notifyFailure } from "./notify.ts";
import { PermittedButton } from "./permitted-button.tsx";
import { TimeText } from "./time-text.tsx";

/** A receiver of webhooks whose last delivery failed and for which messages wait. */
export interface FailingReceiver {
  origin: string;
  last_error: string | null;
  next_attempt_at: string;
  /** At most 1000 are counted. */
  waiting: number;
}

interface FailingReceiversProps {
  queryKey: readonly unknown[];
  read: () => Promise<FailingReceiver[]>;
  retry: (origin: string) => Promise<unknown>;
  /** Reason why the caller may not retry; null if they may. */
  denial?: string | null;
}

const INTERVAL_MS = 10_000;

/** Warns of receivers that fail, and sends what waits for one on request. Renders nothing while all work. */
export function FailingReceivers({ queryKey, read, retry, denial = null }: FailingReceiversProps) {
  const queryClient = useQueryClient();
  const { data: receivers = [] } = useQuery({ queryKey, queryFn: read, refetchInterval: INTERVAL_MS });
  const sending = useMutation({
    mutationFn: retry,
    onSuccess: () => notifyDone("Deliveries queued"),
    onError: notifyFailure("Could not retry the deliveries"),
    onSettled: () => queryClient.invalidateQueries({ queryKey }),
  });
  if (receivers.length === 0) return null;
  return (
    <Alert
      color="danger"
      icon={<IconAlertTriangle size={18} />}
      title={
        receivers.length === 1 ? "Deliveries to a receiver fail" : `Deliveries to ${receivers.length} receivers fail`
      }
      mb="sm"
      role="alert"
    >
      <Stack gap="xs">
        {receivers.map(({ origin, last_error: reason, next_attempt_at: next, waiting }) => (
          <Group key={origin} justify="space-between" wrap="nowrap" align="start">
            <Text size="sm" style={{ overflowWrap: "anywhere" }}>
              <strong>{origin}</strong>: {reason ?? "The last attempt failed."}{" "}
              {waiting === 1 ? "1 message waits" : `${waiting < 1000 ? waiting : "1000 or more"} messages wait`}, next
              attempt <TimeText at={next} />.
            </Text>
            <PermittedButton
              size="xs"
              variant="default"
              denial={denial}
              aria-label={`Retry ${origin}`}
              loading={sending.isPending && sending.variables === origin}
              onClick={() => sending.mutate(origin)}
            >
              Retry now
            </PermittedButton>
          </Group>
        ))}
      </Stack>
    </Alert>
  );
}
