import { SimpleGrid, Stack, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import type { AnyRun } from "../runs/run-record.ts";
import { runQuery } from "../traces/queries.ts";
import { RunError } from "../traces/run-error.tsx";
import { RunValue } from "../traces/run-value.tsx";
import { referenceQuery } from "./queries.ts";
import { LoadState } from "../../ui/load-state.tsx";

interface ReviewPairProps {
  run: AnyRun & { reference_example_id?: string | null };
  otherId: string;
  /** Whether the other run is on the left. */
  isSwapped: boolean;
}

/** What a reviewer reads of two runs of the same input: their outputs side by side, without their names. */
export function ReviewPair({ run, otherId, isSwapped }: ReviewPairProps) {
  const other = useQuery(runQuery(otherId));
  const reference = useQuery(referenceQuery(run.reference_example_id));
  if (!other.data) return <LoadState query={other} rows={10} />;
  const sides: Pick<AnyRun, "id" | "outputs" | "error" | "status">[] = isSwapped
    ? [other.data, run]
    : [run, other.data];
  return (
    <article aria-label="Pair of runs">
      <Stack gap="md">
        <RunValue key={`in ${run.id}`} title="Input" value={run.inputs} />
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
          {sides.map((side, index) => (
            <section key={side.id} aria-label={index === 0 ? "Left" : "Right"}>
              <Title order={2} size="h6" mb={4}>
                {index === 0 ? "Left" : "Right"}
              </Title>
              {side.error != null && <RunError error={side.error} status={side.status} />}
              <RunValue title={index === 0 ? "Left output" : "Right output"} value={side.outputs} />
            </section>
          ))}
        </SimpleGrid>
        {reference.data && <RunValue key={`ref ${run.id}`} title="Reference" value={reference.data.outputs} />}
      </Stack>
    </article>
  );
}
