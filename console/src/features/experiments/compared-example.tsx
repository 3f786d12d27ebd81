import { Drawer, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { DiffView } from "../../ui/diff-view.tsx";
import { JsonView } from "../../ui/json-view.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { comparedExampleQuery } from "./queries.ts";

interface ComparedExampleProps {
  datasetId: string;
  experiments: string[];
  baseline: string;
  names: ReadonlyMap<string, string>;
  /** Null: closed. */
  exampleId: string | null;
  onClose: () => void;
}

/** Drawer with an example, and how the outputs of each experiment differ from the baseline's. */
export function ComparedExample(props: ComparedExampleProps) {
  const { exampleId, onClose } = props;
  return (
    <Drawer
      opened={exampleId !== null}
      onClose={onClose}
      position="right"
      size="min(100%, 860px)"
      title="Example"
      closeButtonProps={{ "aria-label": "Close" }}
    >
      {exampleId !== null && <Content {...props} exampleId={exampleId} />}
    </Drawer>
  );
}

function Content({ datasetId, experiments, baseline, names, exampleId }: ComparedExampleProps & { exampleId: string }) {
  const found = useQuery(comparedExampleQuery(datasetId, experiments, exampleId));
  if (found.data === undefined) return <LoadState query={found} rows={8} />;
  if (found.data === null) return <Text size="sm">The example was deleted.</Text>;
  const { inputs, outputs, runs } = found.data;
  const runOf = (id: string) => runs.find((run) => run.session_id === id);
  const nameOf = (id: string) => names.get(id) ?? id.slice(-8);
  const before = runOf(baseline);
  return (
    <Stack gap="md">
      <Value title="Inputs" value={inputs} />
      <Value title="Reference outputs" value={outputs} />
      <Value title={`Outputs of ${nameOf(baseline)} (baseline)`} value={before?.error ?? before?.outputs} />
      {experiments
        .filter((id) => id !== baseline)
        .map((id) => {
          const run = runOf(id);
          const title = `${nameOf(id)} compared with the baseline`;
          return (
            <section key={id} aria-label={title}>
              <Title order={3} size="h6" mb={4}>
                {title}
              </Title>
              {run ? (
                <DiffView
                  before={before?.error ?? before?.outputs ?? null}
                  after={run.error ?? run.outputs ?? null}
                  names={[nameOf(baseline), nameOf(id)]}
                />
              ) : (
                <Text size="sm" c="dimmed">
                  No run
                </Text>
              )}
            </section>
          );
        })}
    </Stack>
  );
}

function Value({ title, value }: { title: string; value: unknown }) {
  return (
    <section aria-label={title}>
      <Title order={3} size="h6" mb={4}>
        {title}
      </Title>
      {value == null ? (
        <Text size="sm" c="dimmed">
          None
        </Text>
      ) : (
        <JsonView value={value} label={title.toLowerCase()} />
      )}
    </section>
  );
}
