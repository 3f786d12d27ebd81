import { Button, Drawer, Group, Stack, Table, Text } from "@mantine/core";
import { IconRepeat } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { agentApi } from "../../api/clients.ts";
import { duration } from "../../ui/format.ts";
import { JsonView } from "../../ui/json-view.tsx";
import { AnchorLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { notifyDone, notifyFailure } from "../../ui/notify.ts";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { useFocusBack } from "../../ui/use-focus-back.ts";
import { deliveryQuery } from "./queries.ts";

/** One delivery: the request, the receiver's response, and a button to send it again. */
export function DeliveryDetails({ server, id, onClose }: { server: string; id: string; onClose: () => void }) {
  useFocusBack();
  const queryClient = useQueryClient();
  const { data: delivery, error, refetch } = useQuery(deliveryQuery(server, id));
  const replay = useMutation({
    mutationFn: () =>
      agentApi(server).POST("/webhooks/deliveries/{delivery_id}/replay", { params: { path: { delivery_id: id } } }),
    onSuccess: () => notifyDone("Delivery queued"),
    onError: notifyFailure("Could not resend the delivery"),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ["agent", server, "deliveries"] }),
  });
  return (
    <Drawer opened onClose={onClose} position="right" size="lg" title="Delivery" closeButtonProps={{ title: "Close" }}>
      <LoadState query={{ data: delivery, error, refetch }} />
      {delivery && (
        <Stack gap="sm">
          <Group justify="space-between">
            <Group gap="xs">
              <StatusBadge status={delivery.status} />
              <Text size="sm">
                {delivery.attempts === 1 ? "1 attempt" : `${delivery.attempts} attempts`}
                {delivery.next_attempt_at !== null && (
                  <>
                    , next <TimeText at={delivery.next_attempt_at} />
                  </>
                )}
              </Text>
            </Group>
            <Button
              size="xs"
              variant="default"
              leftSection={<IconRepeat size={14} aria-hidden />}
              loading={replay.isPending}
              disabled={delivery.status === "pending"}
              onClick={() => replay.mutate()}
            >
              Resend
            </Button>
          </Group>
          <Text size="sm" style={{ overflowWrap: "anywhere" }}>
            {delivery.url}
          </Text>
          <Group gap="xs">
            <AnchorLink to="/a/$server/threads/$threadId" params={{ server, threadId: delivery.thread_id }} size="sm">
              View thread
            </AnchorLink>
            <Text size="sm" c="dimmed">
              Run status
            </Text>
            <StatusBadge status={delivery.run_status} />
          </Group>
          <section>
            <Text component="h3" size="sm" fw={600} mb={4}>
              Attempts
            </Text>
            {delivery.log.length === 0 && (
              <Text size="sm" c="dimmed">
                No attempts yet.
              </Text>
            )}
            {delivery.log.length > 0 && (
              <Table.ScrollContainer minWidth={440} type="native" tabIndex={0}>
                <Table verticalSpacing={4} aria-label="Attempts">
                  <Table.Thead>
                    <Table.Tr>
                      <Table.Th>No.</Table.Th>
                      <Table.Th>Time</Table.Th>
                      <Table.Th>Duration</Table.Th>
                      <Table.Th>Response</Table.Th>
                    </Table.Tr>
                  </Table.Thead>
                  <Table.Tbody>
                    {delivery.log.map(
                      ({ attempt, started_at: at, duration_ms: ms, status_code: code, error: reason }) => (
                        <Table.Tr key={`${attempt} ${at}`}>
                          <Table.Td>{attempt}</Table.Td>
                          <Table.Td>
                            <TimeText at={at} />
                          </Table.Td>
                          <Table.Td>{duration(ms)}</Table.Td>
                          <Table.Td style={{ overflowWrap: "anywhere" }}>
                            {code !== null && `HTTP ${code} `}
                            {reason ?? ""}
                          </Table.Td>
                        </Table.Tr>
                      ),
                    )}
                  </Table.Tbody>
                </Table>
              </Table.ScrollContainer>
            )}
          </section>
          <section>
            <Text component="h3" size="sm" fw={600} mb={4}>
              Payload
            </Text>
            <JsonView value={delivery.payload} label="Payload" />
          </section>
        </Stack>
      )}
    </Drawer>
  );
}
