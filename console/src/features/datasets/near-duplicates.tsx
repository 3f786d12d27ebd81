import { Alert, Button, Card, Code, Group, NumberInput, Stack, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { traceApi } from "../../api/clients.ts";
import { Empty } from "../../ui/empty.tsx";
import { count } from "../../ui/format.ts";
import { LoadState } from "../../ui/load-state.tsx";
import { notifyDone, notifyFailure } from "../../ui/notify.ts";
import { nearDuplicatesQuery } from "./queries.ts";

/** Groups of examples whose inputs are similar. Of each group, what is not kept can be removed. */
export function NearDuplicates({ datasetId }: { datasetId: string }) {
  const client = useQueryClient();
  const [threshold, setThreshold] = useState(0.6);
  const found = useQuery(nearDuplicatesQuery(datasetId, threshold));
  const remove = useMutation({
    async mutationFn(ids: readonly string[]) {
      for (let at = 0; at < ids.length; at += 1000) {
        const query = { example_ids: ids.slice(at, at + 1000) };
        await traceApi.DELETE("/api/v1/examples", { params: { query } });
      }
      await client.invalidateQueries({ queryKey: ["dataset", datasetId] });
    },
    onSuccess: (_, ids) => notifyDone(ids.length === 1 ? "Example removed" : `${ids.length} examples removed`),
    onError: notifyFailure("Could not remove the examples"),
  });
  return (
    <Stack gap="sm">
      <Group gap="xs" align="flex-end">
        <NumberInput
          label="Similarity from"
          size="xs"
          w={120}
          min={0.3}
          max={1}
          step={0.05}
          decimalScale={2}
          value={threshold}
          onChange={(value) => typeof value === "number" && value >= 0.3 && value <= 1 && setThreshold(value)}
        />
        <Text size="sm" c="dimmed" role="status">
          {found.data &&
            `${count(found.data.groups_total)} groups among ${count(found.data.examples)} examples${found.data.is_truncated ? " (the newest)" : ""}`}
        </Text>
      </Group>
      <LoadState query={found} rows={8} />
      {found.data &&
        (found.data.groups.length === 0 ? (
          <Empty title="No near-duplicates">No two examples have inputs that are so similar.</Empty>
        ) : (
          <>
            {found.data.groups_total > found.data.groups.length && (
              <Alert py="xs">The {found.data.groups.length} largest groups are shown.</Alert>
            )}
            {found.data.groups.map(({ members }) => (
              <NearGroup
                key={members[0]!.example_id}
                members={members}
                isBusy={remove.isPending}
                onRemove={remove.mutate}
              />
            ))}
          </>
        ))}
    </Stack>
  );
}

/** Members that are shown of a group. */
const MAX_SHOWN = 20;

interface GroupProps {
  members: readonly { example_id: string; similarity: number; inputs_preview: string }[];
  isBusy: boolean;
  onRemove: (ids: string[]) => void;
}

function NearGroup({ members, isBusy, onRemove }: GroupProps) {
  return (
    <Card withBorder padding="sm" component="section" aria-label={`Group of ${members.length}`}>
      <Group justify="space-between" mb={6}>
        <Text size="sm" fw={600}>
          {members.length} examples
        </Text>
        <Button
          size="compact-xs"
          variant="default"
          disabled={isBusy}
          onClick={() => onRemove(members.slice(1).map((member) => member.example_id))}
        >
          Keep the first, remove {members.length - 1}
        </Button>
      </Group>
      <Stack gap={4}>
        {members.slice(0, MAX_SHOWN).map((member) => (
          <Group key={member.example_id} gap="xs" wrap="nowrap">
            <Text size="xs" className="numbers" w={44}>
              {Math.round(member.similarity * 100)} %
            </Text>
            <Code style={{ flex: 1, overflow: "hidden", textOverflow: "ellipsis", whiteSpace: "nowrap" }}>
              {member.inputs_preview}
            </Code>
            <Button
              size="compact-xs"
              variant="subtle"
              color="danger"
              disabled={isBusy}
              aria-label={`Remove ${member.inputs_preview.slice(0, 60)}`}
              onClick={() => onRemove([member.example_id])}
            >
              Remove
            </Button>
          </Group>
        ))}
        {members.length > MAX_SHOWN && <Text size="xs">and {members.length - MAX_SHOWN} more</Text>}
      </Stack>
    </Card>
  );
}
