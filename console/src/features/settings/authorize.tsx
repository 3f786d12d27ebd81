import { Alert, Button, Checkbox, Group, Stack, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useState } from "react";

import { data, traceApi } from "../../api/clients.ts";
import { readWorkspace } from "../../api/credentials.ts";
import type { operations } from "../../api/trace.d.ts";
import { LoadState } from "../../ui/load-state.tsx";
import { Page } from "../../ui/page.tsx";
import { workspacesQuery } from "../../app/queries.ts";

type Request = operations["get_api_v1_oauth_authorizations"]["parameters"]["query"];

/** Asks whether a program, such as a coding agent, may act for the user at the MCP server. */
export function Authorize() {
  const request = readRequest(useSearch({ from: "/_shell/authorize" }).request);
  const {
    data: asked,
    error,
    refetch,
  } = useQuery({
    queryKey: ["oauth", request],
    queryFn: ({ signal }) => data(traceApi.GET("/api/v1/oauth/authorizations", { params: { query: request }, signal })),
    retry: false,
  });
  const { data: workspaces = [] } = useQuery(workspacesQuery);
  const workspace = workspaces.find(({ id }) => id === readWorkspace()) ?? workspaces[0];
  const [readOnly, setReadOnly] = useState(false);
  const decision = useMutation({
    mutationFn: (allow: boolean) =>
      data(traceApi.POST("/api/v1/oauth/authorizations", { body: { ...request, allow, read_only: readOnly } })),
    onSuccess: ({ redirect_to: target }) => location.assign(target),
  });
  return (
    <Page title="Authorize a program">
      <LoadState query={{ data: asked, error, refetch }} rows={4} />
      {asked && (
        <Stack maw={520} gap="md">
          <Text>
            <Text span fw={600}>
              {asked.client_name}
            </Text>{" "}
            asks to read {asked.wants_write && "and write "}
            what you may in the workspace{" "}
            <Text span fw={600}>
              {workspace?.display_name ?? "of this server"}
            </Text>
            : traces, datasets, prompts and feedback.
          </Text>
          <Text size="sm" c="dimmed">
            {asked.client_host
              ? `${asked.client_host} publishes this program.`
              : "Any program can give itself a name: allow only what you have just started."}{" "}
            You will be sent to {asked.redirects_to}
            {asked.is_local ? ", where any program of this computer could take the access." : "."} Access ends when it
            is not used for 30 days, or when you revoke it in Settings → Keys. Another workspace can be chosen in the
            menu of the account.
          </Text>
          {asked.wants_write && (
            <Checkbox
              label="Read only"
              checked={readOnly}
              onChange={({ currentTarget }) => setReadOnly(currentTarget.checked)}
            />
          )}
          {decision.error && <Alert color="danger">{decision.error.message}</Alert>}
          <Group>
            <Button loading={decision.isPending} onClick={() => decision.mutate(true)}>
              Allow
            </Button>
            <Button variant="default" disabled={decision.isPending} onClick={() => decision.mutate(false)}>
              Deny
            </Button>
          </Group>
        </Stack>
      )}
    </Page>
  );
}

/** Reads what /oauth/authorize has put into the address. The server checks it. */
function readRequest(text: string): Request {
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes)) as Request;
  } catch {
    return {} as Request;
  }
}
