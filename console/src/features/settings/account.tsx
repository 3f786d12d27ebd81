import { Alert, Button, Group, PasswordInput, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";

import { traceApi } from "../../api/clients.ts";
import { storeCsrfToken, storeKey, storeWorkspace, readKey } from "../../api/credentials.ts";
import { forgetResults } from "../../app/forget-results.ts";
import { useConfirm } from "../../ui/confirm.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { notifyDone } from "../../ui/notify.ts";
import { signInMethodsQuery } from "../sign-in/queries.ts";
import { identityQuery } from "./queries.ts";

export function Account() {
  const { data: identity, error, refetch } = useQuery(identityQuery);
  const { data: methods } = useQuery(signInMethodsQuery);
  if (!identity) return <LoadState query={{ error, refetch }} rows={3} />;
  if (identity.user_id === "") {
    return (
      <Text size="sm">
        {readKey() === null
          ? "Local access without sign-in: all actions are allowed."
          : "You are using a service key. Sign in to change a password."}
      </Text>
    );
  }
  return (
    <Stack maw={460} gap="lg">
      <Text size="sm">
        Signed in as{" "}
        <Text span fw={600}>
          {identity.user_email}
        </Text>
        .
      </Text>
      {readKey() === null && methods?.password && <PasswordForm />}
      {readKey() === null && <Sessions />}
    </Stack>
  );
}

function PasswordForm() {
  const form = useForm({ initialValues: { current: "", next: "", again: "" } });
  const { current, next, again } = form.values;
  const change = useMutation({
    mutationFn: () =>
      traceApi.POST("/api/v1/auth/password", { body: { current_password: current, new_password: next } }),
    onSuccess() {
      notifyDone("Password changed. Your other sessions were signed out.");
      form.reset();
    },
  });
  return (
    <form onSubmit={form.onSubmit(() => change.mutate())}>
      <Stack gap="sm">
        <Text component="h2" fw={600}>
          Password
        </Text>
        <PasswordInput
          label="Current password"
          autoComplete="current-password"
          required
          {...form.getInputProps("current")}
        />
        <PasswordInput label="New password" autoComplete="new-password" required {...form.getInputProps("next")} />
        <PasswordInput
          label="Confirm password"
          autoComplete="new-password"
          required
          {...form.getInputProps("again")}
          error={again !== "" && again !== next ? "The passwords do not match" : null}
        />
        {change.error && (
          <Alert color="danger" role="alert">
            {change.error.message}
          </Alert>
        )}
        <Group>
          <Button
            type="submit"
            size="xs"
            disabled={current === "" || next === "" || next !== again}
            loading={change.isPending}
          >
            Change password
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Sessions() {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const { confirm, dialog } = useConfirm();
  const signOut = () =>
    confirm({
      title: "Sign out everywhere?",
      body: "This ends all your sessions, including this one. API keys stay valid.",
      action: "Sign out everywhere",
      async run() {
        await traceApi.POST("/api/v1/logout", { body: { everywhere: true } });
        storeKey(null);
        storeCsrfToken(null);
        storeWorkspace(null);
        await forgetResults();
        queryClient.clear();
        await navigate({ to: "/sign-in" });
      },
    });
  return (
    <div>
      <Text component="h2" fw={600} mb={4}>
        Sessions
      </Text>
      <Button size="xs" variant="default" onClick={signOut}>
        Sign out everywhere
      </Button>
      {dialog}
    </div>
  );
}
