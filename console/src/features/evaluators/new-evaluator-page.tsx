import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { data, traceApi } from "../../api/clients.ts";
import { Page } from "../../ui/page.tsx";
import { usePermission } from "../settings/use-permission.ts";
import { type EvaluatorDraft, newDraft, toBody } from "./draft.ts";
import { EvaluatorForm } from "./evaluator-form.tsx";

/** Form of a new evaluator. */
export function NewEvaluatorPage() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const denial = usePermission("evaluators:create");
  const [initial] = useState(newDraft);
  const create = async (draft: EvaluatorDraft) => {
    const body = { ...toBody(draft), name: draft.name.trim(), description: draft.description.trim() || null };
    const { evaluator } = await data(traceApi.POST("/v1/platform/evaluators", { body: body as never }));
    await client.invalidateQueries({ queryKey: ["evaluators"] });
    await navigate({ to: "/evaluators/$evaluatorId", params: { evaluatorId: evaluator.id } });
  };
  return (
    <Page title="New evaluator">
      <EvaluatorForm initial={initial} action="Create" denial={denial} onSave={create} />
    </Page>
  );
}
