import { Alert, Button, Card, Center, Divider, PasswordInput, Stack, TextInput, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";

import { data, traceApi } from "../../api/clients.ts";
import { storeCsrfToken, storeKey, redirectToProvider } from "../../api/credentials.ts";
import { PREFIX } from "../../api/prefix.ts";
import { forgetResults } from "../../app/forget-results.ts";
import { signInMethodsQuery } from "./queries.ts";

const route = getRouteApi("/sign-in");

/** Reason why signing in through the identity provider failed: the server keeps it in a cookie for a minute. */
const PROBLEM_COOKIE = "heddle_sign_in_problem";

function readProblem(): string | null {
  const [, value] = new RegExp(`(?:^|; )${PROBLEM_COOKIE}=([^;]*)`).exec(document.cookie) ?? [];
  return value ? decodeURIComponent(value) : null;
}

function clearProblem(): void {
  document.cookie = `${PROBLEM_COOKIE}=; Max-Age=0; Path=/; SameSite=Lax`;
}

/** Builds the query parameters with the redirect targets after success and failure. */
const loginParams = (next: string) =>
  new URLSearchParams({
    return_to: PREFIX + next,
    error_to: `${PREFIX}/sign-in?${new URLSearchParams({ next })}`,
  }).toString();

/** Sign-in with a password, at the identity provider, or with a key that lives as long as the tab. */
export function SignIn() {
  const { next = "/" } = route.useSearch();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [error, setError] = useState<string | null>(readProblem);
  // shown once: a reload starts over
  useEffect(clearProblem, []);
  // another user may sign in
  useEffect(() => void forgetResults(), []);
  const { data: methods } = useQuery(signInMethodsQuery);
  const byPassword = useForm({ initialValues: { email: "", password: "" } });
  const byKey = useForm({ initialValues: { key: "" } });
  const enter = async () => {
    queryClient.clear();
    await navigate({ href: next });
  };
  const attempt = (work: () => Promise<unknown>) => async () => {
    setError(null);
    try {
      await work();
      await enter();
    } catch (problem) {
      setError((problem as Error).message);
    }
  };
  return (
    <Center mih="100vh" p="md" component="main">
      <Card withBorder w={360} padding="lg">
        <Stack>
          <Title order={1} size="h3">
            Sign in to Heddle
          </Title>
          {error !== null && (
            <Alert color="danger" role="alert" style={{ overflowWrap: "anywhere" }}>
              {error}
            </Alert>
          )}
          {methods?.password && (
            <form
              onSubmit={byPassword.onSubmit(({ email, password }) =>
                attempt(async () => {
                  // a stored key, even a revoked one, would take precedence over the session in this tab
                  storeKey(null);
                  const body = { email, password, cookie: true };
                  const { csrf_token: token } = await data(traceApi.POST("/api/v1/login", { body }));
                  storeCsrfToken(token ?? null);
                })(),
              )}
            >
              <Stack gap="sm">
                <TextInput
                  label="Email"
                  type="email"
                  autoComplete="username"
                  required
                  {...byPassword.getInputProps("email")}
                />
                <PasswordInput
                  label="Password"
                  autoComplete="current-password"
                  required
                  {...byPassword.getInputProps("password")}
                />
                <Button type="submit">Sign in</Button>
              </Stack>
            </form>
          )}
          {methods?.oidc && (
            <Button
              component="a"
              variant="default"
              href={`${PREFIX}/api/trace${methods.oidc.path}?${loginParams(next)}`}
              onClick={() => {
                storeKey(null);
                redirectToProvider();
              }}
            >
              Sign in with {new URL(methods.oidc.issuer).host}
            </Button>
          )}
          <Divider label="or with an API key" />
          <form
            onSubmit={byKey.onSubmit(({ key }) =>
              attempt(async () => {
                storeKey(key.trim());
                await traceApi.GET("/api/v1/workspaces", {}).catch((problem: unknown) => {
                  storeKey(null);
                  throw problem;
                });
              })(),
            )}
          >
            <Stack gap="sm">
              <PasswordInput
                label="API key"
                description="Stored in this tab until you close it."
                placeholder="lsv2_…"
                required
                {...byKey.getInputProps("key")}
              />
              <Button type="submit" variant="default">
                Continue with key
              </Button>
            </Stack>
          </form>
        </Stack>
      </Card>
    </Center>
  );
}
