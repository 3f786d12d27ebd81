import { Accordion, Badge, Drawer, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { DiffView } from "../../ui/diff-view.tsx";
import { count, fullTime } from "../../ui/format.ts";
import { JsonView } from "../../ui/json-view.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import type { Role } from "../../app/theme.ts";
import { useFocusBack } from "../../ui/use-focus-back.ts";
import { type Example, exampleAtQuery, versionDiffQuery } from "./queries.ts";

/** Number of examples listed per kind of change; the total is shown. */
const SHOWN = 100;

type Kind = "added" | "removed" | "modified";
const KINDS: [kind: Kind, role: Role][] = [
  ["added", "success"],
  ["removed", "danger"],
  ["modified", "warning"],
];

interface VersionChangesProps {
  datasetId: string;
  version: string;
  /** Previous version; null for the first, in which everything is new. */
  before: string | null;
  onClose: () => void;
}

/** Changes made by a version: an example per line, with its difference when opened. */
export function VersionChanges({ datasetId, version, before, onClose }: VersionChangesProps) {
  useFocusBack();
  const diff = useQuery({ ...versionDiffQuery(datasetId, before ?? "", version), enabled: before !== null });
  const changes = diff.data;
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="lg"
      title="Changes in this version"
      closeButtonProps={{ title: "Close" }}
    >
      <Text size="sm" c="dimmed" mb="sm">
        {fullTime(version)} {before === null ? " (first version)" : " compared with the previous version"}
      </Text>
      {before !== null && <LoadState query={diff} rows={4} />}
      {before === null && <Text size="sm">All examples are new.</Text>}
      {changes && KINDS.every(([kind]) => changes[`examples_${kind}`].length === 0) && (
        <Text size="sm">No examples changed.</Text>
      )}
      {changes && (
        <Stack gap="md">
          {KINDS.map(([kind, role]) => {
            const ids = changes[`examples_${kind}`];
            if (ids.length === 0) return null;
            return (
              <section key={kind} aria-label={`Examples ${kind}`}>
                <Group gap={6} mb={4}>
                  <Badge size="sm" color={role} variant="outline" tt="none">
                    {count(ids.length)} {kind}
                  </Badge>
                </Group>
                <Accordion variant="separated" chevronPosition="left">
                  {ids.slice(0, SHOWN).map((id) => (
                    <Accordion.Item key={id} value={id}>
                      <Accordion.Control>
                        <Text size="sm" ff="monospace">
                          {id.slice(-8)}
                        </Text>
                      </Accordion.Control>
                      <Accordion.Panel>
                        <Change id={id} datasetId={datasetId} kind={kind} before={before!} after={version} />
                      </Accordion.Panel>
                    </Accordion.Item>
                  ))}
                </Accordion>
                {ids.length > SHOWN && (
                  <Text size="sm" c="dimmed" mt={4}>
                    {count(ids.length - SHOWN)} more not shown.
                  </Text>
                )}
              </section>
            );
          })}
        </Stack>
      )}
    </Drawer>
  );
}

const pickContent = ({ inputs, outputs, metadata }: Example) => ({ inputs, outputs, metadata });

interface ChangeProps {
  id: string;
  datasetId: string;
  kind: Kind;
  before: string;
  after: string;
}

function Change({ id, datasetId, kind, before, after }: ChangeProps) {
  const old = useQuery({ ...exampleAtQuery(datasetId, id, before), enabled: kind !== "added" });
  const fresh = useQuery({ ...exampleAtQuery(datasetId, id, after), enabled: kind !== "removed" });
  if (kind === "modified") {
    if (!old.data || !fresh.data) return <LoadState query={[old, fresh]} rows={2} />;
    return <DiffView before={pickContent(old.data)} after={pickContent(fresh.data)} />;
  }
  const example = kind === "added" ? fresh.data : old.data;
  return example ? (
    <JsonView value={pickContent(example)} label={`example ${kind}`} />
  ) : (
    <LoadState query={[old, fresh]} rows={2} />
  );
}
