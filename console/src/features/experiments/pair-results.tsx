import { Stack, Table, Text, Title } from "@mantine/core";

import { count, percent } from "../../ui/format.ts";
import type { PairwiseResults } from "./queries.ts";

/** Result of a pairwise review: the rate of wins with its interval in words, and the reviewers. */
export function PairResults({ results }: { results: PairwiseResults }) {
  const [first, second] = results.experiments;
  const { pairs, keys } = results;
  if (!first || !second) return null;
  return (
    <Stack gap="md" component="section" aria-label="Result">
      <Title order={2} size="h5">
        Result
      </Title>
      {keys.length === 0 && (
        <Text size="sm" c="dimmed">
          No pair is judged yet.
        </Text>
      )}
      {keys.map((key) => (
        <div key={key.key}>
          <Text size="sm" fw={600}>
            {key.key}: {count(key.judged)} of {count(pairs)} pairs judged
          </Text>
          <Text size="sm" className="numbers">
            {describe(key, second.name)}
            {key.agreement !== null && ` Reviewers agree on ${percent(key.agreement)}.`}
          </Text>
          <Table.ScrollContainer minWidth={420} type="native" tabIndex={0} role="region" aria-label="Judgements">
            <Table verticalSpacing={4} maw={900} aria-label={`Judgements by ${key.key}`}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Reviewer</Table.Th>
                  <Table.Th ta="end">{first.name}</Table.Th>
                  <Table.Th ta="end">Ties</Table.Th>
                  <Table.Th ta="end">{second.name}</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {key.reviewers.map(({ reviewer, name, kind, wins, ties }) => (
                  <Table.Tr key={kind + reviewer}>
                    <Table.Td>
                      {name ?? (reviewer === "local" ? "You" : reviewer)} {kind === "judge" && "(evaluator)"}
                    </Table.Td>
                    <Table.Td ta="end" className="numbers">
                      {count(wins[0])}
                    </Table.Td>
                    <Table.Td ta="end" className="numbers">
                      {count(ties)}
                    </Table.Td>
                    <Table.Td ta="end" className="numbers">
                      {count(wins[1])}
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        </div>
      ))}
    </Stack>
  );
}

function describe({ win_rate: rate, interval }: PairwiseResults["keys"][number], name: string): string {
  const known = `${name} wins ${percent(rate)}`;
  if (interval === null) return `${known}.`;
  const [low, high] = interval as [number, number];
  const verdict = low > 0.5 ? "probably better" : high < 0.5 ? "probably worse" : "no clear difference";
  return `${known} (95% interval ${percent(low)} to ${percent(high)}): ${verdict}.`;
}
