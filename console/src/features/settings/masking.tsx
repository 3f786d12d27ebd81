import { Badge, Group, Switch, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { data, traceApi } from "../../api/clients.ts";
import { useConfirm } from "../../ui/confirm.tsx";
import { EditAndDelete } from "../../ui/edit-and-delete.tsx";
import { Empty } from "../../ui/empty.tsx";
import { count } from "../../ui/format.ts";
import { LoadState } from "../../ui/load-state.tsx";
import { NewButton } from "../../ui/new-button.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { projectNamesQuery } from "../exports/queries.ts";
import { MaskingForm } from "./masking-form.tsx";
import { DETECTORS, FIELDS, type MaskingRule, maskingQuery } from "./masking-queries.ts";
import { usePermission } from "./use-permission.ts";

/** Rules that mask what arrives in traces. */
export function Masking() {
  const client = useQueryClient();
  const { data: rules, error, refetch } = useQuery(maskingQuery);
  const { data: projects = [] } = useQuery(projectNamesQuery);
  const { confirm, dialog } = useConfirm();
  const [edited, setEdited] = useState<MaskingRule | "new" | null>(null);
  const denial = usePermission("rules:update");
  if (!rules) return <LoadState query={{ error, refetch }} rows={4} />;
  const changed = () => client.invalidateQueries({ queryKey: maskingQuery.queryKey });
  const params = ({ id }: MaskingRule) => ({ path: { rule_id: id } });
  const toggle = async (rule: MaskingRule) => {
    const body = { is_enabled: !rule.is_enabled };
    await data(traceApi.PATCH("/api/v1/masking-rules/{rule_id}", { params: params(rule), body }));
    await changed();
  };
  const remove = (rule: MaskingRule) =>
    confirm({
      title: "Delete this masking rule?",
      body: `What arrives from now on is stored as it is. What "${rule.name}" has masked stays masked.`,
      action: "Delete",
      async run() {
        await traceApi.DELETE("/api/v1/masking-rules/{rule_id}", { params: params(rule) });
        await changed();
      },
    });
  return (
    <>
      <Group justify="space-between" mb="xs">
        <Text size="sm" c="dimmed" maw={680}>
          Rules mask personal data and secrets in traces before they are stored. Graph hosts can mask them before they
          are sent: HEDDLE_TRACE_MASKING.
        </Text>
        <NewButton denial={denial} onClick={() => setEdited("new")}>
          New rule
        </NewButton>
      </Group>
      {rules.length === 0 ? (
        <Empty title="Nothing is masked">
          A rule replaces e-mail addresses, card numbers, keys and what your patterns find.
        </Empty>
      ) : (
        <SimpleTable
          label="Masking rules"
          rows={rules}
          rowKey={({ id }) => id}
          minWidth={780}
          columns={[
            {
              title: "Rule",
              cell: ({ name, project_id: id }) => (
                <>
                  <Text size="sm">{name}</Text>
                  <Text size="xs" c="dimmed">
                    {id === null
                      ? "All projects"
                      : (projects.find((project) => project.id === id)?.name ?? "A project")}
                  </Text>
                </>
              ),
            },
            { title: "Masks", cell: (rule) => <Masks rule={rule} />, width: 300 },
            {
              title: "In 30 days",
              cell: ({ masked_values: values, masked_runs: runs }) => (
                <Text size="sm" className="numbers">
                  {values === 0 ? "nothing" : `${count(values)} in ${count(runs)} runs`}
                </Text>
              ),
              width: 140,
            },
            {
              title: "Enabled",
              cell: (rule) => (
                <Switch
                  aria-label={`Enable ${rule.name}`}
                  size="xs"
                  checked={rule.is_enabled}
                  disabled={denial !== null}
                  onChange={() => void toggle(rule)}
                />
              ),
              width: 80,
            },
            {
              title: "",
              cell: (rule) =>
                denial === null && <EditAndDelete onEdit={() => setEdited(rule)} onDelete={() => remove(rule)} />,
              width: 170,
            },
          ]}
        />
      )}
      {edited !== null && <MaskingForm rule={edited === "new" ? null : edited} onClose={() => setEdited(null)} />}
      {dialog}
    </>
  );
}

function Masks({ rule: { detectors, pattern, path, fields } }: { rule: MaskingRule }) {
  const what = [...detectors.map((name) => DETECTORS[name]), ...(pattern === null ? [] : [pattern])];
  return (
    <Group gap={6}>
      {(what.length === 0 ? ["Everything"] : what).map((name) => (
        <Badge key={name} size="sm" variant="default" tt="none" fw={500}>
          {name}
        </Badge>
      ))}
      <Text size="xs" c="dimmed">
        {fields.map((field) => FIELDS[field]).join(", ")}
        {path !== "" && ` at ${path}`}
      </Text>
    </Group>
  );
}
