import { Button, Group, Select, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { DiffView } from "../../ui/diff-view.tsx";
import { count } from "../../ui/format.ts";
import { LoadState } from "../../ui/load-state.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { usd } from "./evaluators-page.tsx";
import { type EvaluatorVersion, versionsQuery } from "./queries.ts";

interface VersionsPanelProps {
  evaluatorId: string;
  denial: string | null;
  /** Makes the definition of an earlier version the newest. */
  onRestore: (version: EvaluatorVersion) => void;
}

/** Versions of an evaluator, and the differences between two of them. */
export function VersionsPanel({ evaluatorId, denial, onRestore }: VersionsPanelProps) {
  const found = useQuery(versionsQuery(evaluatorId));
  const [chosen, setChosen] = useState<[string | null, string | null]>([null, null]);
  if (!found.data) return <LoadState query={found} rows={5} />;
  const { versions } = found.data;
  const names = versions.map(({ version }) => String(version));
  const [before = null, after = null] = [chosen[0] ?? names[1], chosen[1] ?? names[0]];
  const find = (name: string | null) => versions.find(({ version }) => String(version) === name);
  return (
    <Stack gap="md">
      <SimpleTable
        label="Versions"
        columns={[
          { title: "Version", width: 80, cell: ({ version }) => version },
          { title: "Created", cell: ({ created_at: at }) => <TimeText at={at} /> },
          { title: "By", cell: ({ created_by: author }) => author ?? "–" },
          { title: "Judgements", align: "right", cell: ({ judgements }) => count(judgements) },
          { title: "Errors", align: "right", cell: ({ errors }) => count(errors) },
          { title: "Spent", align: "right", cell: ({ spend_usd: spent }) => usd(spent) },
          {
            title: "Actions",
            width: 110,
            cell: (row) =>
              row === versions[0] ? (
                "Newest"
              ) : (
                <Button size="compact-xs" variant="default" disabled={denial !== null} onClick={() => onRestore(row)}>
                  Restore
                </Button>
              ),
          },
        ]}
        rows={versions}
        rowKey={({ version }) => String(version)}
      />
      {versions.length > 1 && (
        <>
          <Group gap="xs">
            <Select
              size="xs"
              label="Compare version"
              w={140}
              data={names}
              value={before}
              onChange={(value) => setChosen([value, after])}
            />
            <Select
              size="xs"
              label="with version"
              w={140}
              data={names}
              value={after}
              onChange={(value) => setChosen([before, value])}
            />
          </Group>
          <DiffView
            before={find(before)?.definition}
            after={find(after)?.definition}
            names={[`version ${before}`, `version ${after}`]}
          />
        </>
      )}
      {versions.length === 1 && (
        <Text size="sm" c="dimmed">
          A change of the prompt, model, mapping, scores or code makes a new version.
        </Text>
      )}
    </Stack>
  );
}
