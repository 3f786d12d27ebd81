import { Badge, Breadcrumbs, Group, Tabs, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";

import { data, traceApi } from "../../api/clients.ts";
import { useConfirm } from "../../ui/confirm.tsx";
import { counted } from "../../ui/format.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { notifyDone, notifyFailure } from "../../ui/notify.ts";
import { Page } from "../../ui/page.tsx";
import { PermittedButton } from "../../ui/permitted-button.tsx";
import { TabList } from "../../ui/tab-list.tsx";
import { usePermission } from "../settings/use-permission.ts";
import { AlignmentPanel } from "./alignment-panel.tsx";
import { type EvaluatorDraft, fromDefinition, toBody } from "./draft.ts";
import { EvaluatorForm } from "./evaluator-form.tsx";
import { usd } from "./evaluators-page.tsx";
import { type Evaluator, evaluatorQuery, type EvaluatorVersion } from "./queries.ts";
import { VersionsPanel } from "./versions-panel.tsx";
import { EVALUATOR_TABS, type EvaluatorTab } from "./evaluator-search.ts";

const TITLES: Record<EvaluatorTab, string> = { edit: "Evaluator", versions: "Versions", alignment: "Alignment" };

/** An evaluator: its form, versions and agreement with people. */
export function EvaluatorPage() {
  const { evaluatorId } = useParams({ from: "/_shell/evaluators/$evaluatorId" });
  const { tab = "edit" } = useSearch({ from: "/_shell/evaluators/$evaluatorId" });
  const navigate = useNavigate({ from: "/evaluators/$evaluatorId" });
  const client = useQueryClient();
  const denial = usePermission("evaluators:update");
  const { data: evaluator, error, refetch } = useQuery(evaluatorQuery(evaluatorId));
  const params = { path: { evaluator_id: evaluatorId } };
  const save = async (draft: EvaluatorDraft) => {
    const named = { ...toBody(draft), name: draft.name.trim(), description: draft.description.trim() || null };
    const saved = await data(
      traceApi.PATCH("/v1/platform/evaluators/{evaluator_id}", { params, body: named as never }),
    );
    await client.invalidateQueries({ queryKey: ["evaluator", evaluatorId] });
    await client.invalidateQueries({ queryKey: ["evaluators"] });
    notifyDone(`Version ${saved.evaluator.version} saved`);
  };
  const restore = ({ version, definition }: EvaluatorVersion) =>
    void save(fromDefinition(evaluator!.name, evaluator!.description, definition)).catch(
      notifyFailure(`Could not restore version ${version}`),
    );
  return (
    <Page title={evaluator?.name ?? "Evaluator"} actions={evaluator && <DeleteButton evaluator={evaluator} />}>
      <Breadcrumbs mb="xs" mt={-8} separatorMargin={6}>
        <AnchorLink to="/evaluators" size="sm">
          Evaluators
        </AnchorLink>
        <Text size="sm" c="dimmed">
          {evaluator?.name ?? "…"}
        </Text>
      </Breadcrumbs>
      <Group gap="xs" mb="xs" mih={22}>
        {evaluator && (
          <>
            <Badge variant="light" tt="none">
              {evaluator.type === "llm" ? "Judge" : "Code"} of a {evaluator.subject}
            </Badge>
            <Text size="sm" c="dimmed">
              Version {evaluator.version} · {counted(evaluator.judgements, "judgement")} ·{" "}
              {counted(evaluator.errors, "error")} · spent {usd(evaluator.spend_usd)} ·{" "}
              {counted(evaluator.run_rules.length, "rule")}
            </Text>
          </>
        )}
      </Group>
      <Tabs
        value={tab}
        onChange={(next) => void navigate({ search: { tab: (next ?? "edit") as EvaluatorTab } })}
        keepMounted={false}
      >
        <TabList mb="sm">
          {EVALUATOR_TABS.map((each) => (
            <Tabs.Tab key={each} value={each}>
              {TITLES[each]}
            </Tabs.Tab>
          ))}
        </TabList>
        {evaluator === undefined ? (
          <LoadState query={{ error, refetch }} rows={8} />
        ) : (
          <>
            <Tabs.Panel value="edit">
              <EvaluatorForm
                // another version is another form
                key={evaluator.version}
                initial={fromDefinition(evaluator.name, evaluator.description, evaluator.definition)}
                evaluatorId={evaluatorId}
                action="Save"
                denial={denial}
                onSave={save}
              />
            </Tabs.Panel>
            <Tabs.Panel value="versions">
              <VersionsPanel evaluatorId={evaluatorId} denial={denial} onRestore={restore} />
            </Tabs.Panel>
            <Tabs.Panel value="alignment">
              <AlignmentPanel evaluatorId={evaluatorId} />
            </Tabs.Panel>
          </>
        )}
      </Tabs>
    </Page>
  );
}

function DeleteButton({ evaluator }: { evaluator: Evaluator }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const denial = usePermission("evaluators:delete");
  const { confirm, dialog } = useConfirm();
  const rules = evaluator.run_rules.length;
  const remove = () =>
    confirm({
      title: `Delete ${evaluator.name}?`,
      body: `This permanently deletes its versions${rules > 0 ? ` and ${counted(rules, "rule")}` : ""}. The feedback that it gave stays.`,
      action: "Delete",
      async run() {
        await traceApi.DELETE("/v1/platform/evaluators/{evaluator_id}", {
          params: { path: { evaluator_id: evaluator.id }, query: { delete_run_rules: "true" } },
        });
        await navigate({ to: "/evaluators" });
        client.removeQueries({ queryKey: ["evaluator", evaluator.id] });
        await client.invalidateQueries({ queryKey: ["evaluators"] });
      },
    });
  return (
    <>
      <PermittedButton size="xs" variant="default" denial={denial} onClick={remove}>
        Delete
      </PermittedButton>
      {dialog}
    </>
  );
}
