import { queryOptions } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import type { operations } from "../../api/trace.d.ts";

export type PromptWebhook =
  operations["get_api_v1_prompt_webhooks"]["responses"][200]["content"]["application/json"][number];
export type Trigger = NonNullable<PromptWebhook["triggers"]>[number];

/** Events by their names on the wire. */
export const TRIGGERS: Record<Trigger, string> = {
  commit: "New commit",
  "tag:create": "New tag",
  "tag:update": "Moved tag",
};

export const promptWebhooksQuery = queryOptions({
  queryKey: ["prompt-webhooks"],
  queryFn: ({ signal }) => data(traceApi.GET("/api/v1/prompt-webhooks", { signal })),
});

/** Query for the prompts that a webhook may select. */
export const promptOptionsQuery = queryOptions({
  queryKey: ["prompts", "options"],
  async queryFn({ signal }) {
    const query = { limit: "100", sort_field: "updated_at" as const, is_archived: "allow" as const };
    const { repos } = await data(traceApi.GET("/api/v1/repos", { params: { query }, signal }));
    return repos.map(({ id, repo_handle: name }) => ({ value: id, label: name }));
  },
});
