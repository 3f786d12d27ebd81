/** The official client's flow of authorization, against the application. The user's browser is played by requests. */
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect, test } from "vitest";

import { rejectPage } from "../../base/http/browser-guard.ts";
import { tracePages } from "../../pages.ts";
import { createTraceApp } from "../../trace-app.ts";
import { testDatabase } from "../../../test/db.ts";
import { testGuard, testTenants } from "../../../test/identity.ts";
import { addSession, testPerson } from "../../../test/people.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";

const db = await testDatabase();
const { a } = await testTenants(db);
const guard = await testGuard(db, {}, { resource: "/mcp" });
const env = { HEDDLE_PUBLIC_URL: "https://heddle.example", HEDDLE_CONSOLE_URL: "https://console.example" };
const { platform, call } = await testTracePlatform(env, { db, guard });
const app = createTraceApp(platform.deps, guard);
const ann = await testPerson(db, a, "ann", { workspace: "WORKSPACE_USER" });
const session = await addSession(db, ann);
const asAnn = { authorization: `Bearer ${session}`, "x-tenant-id": a.workspaceId };

const fetchFrom = (async (url: URL | string, init?: RequestInit) =>
  app.request(url instanceof URL ? url.href : url, init)) as typeof fetch;
const CALLBACK = "http://127.0.0.1:33418/callback";

/** Keeps what a program keeps; the "browser" is where its user is sent. */
class Provider implements OAuthClientProvider {
  redirectUrl = CALLBACK;
  clientMetadata = { client_name: "Code agent", redirect_uris: [CALLBACK], token_endpoint_auth_method: "none" };
  browser: URL | undefined;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect to be there
  saved: Record<string, any> = {};
  clientInformation() {
    return this.saved["client"];
  }
  saveClientInformation(value: unknown) {
    this.saved["client"] = value;
  }
  tokens() {
    return this.saved["tokens"];
  }
  saveTokens(value: unknown) {
    this.saved["tokens"] = value;
  }
  redirectToAuthorization(url: URL) {
    this.browser = url;
  }
  saveCodeVerifier(value: string) {
    this.saved["verifier"] = value;
  }
  codeVerifier() {
    return this.saved["verifier"] as string;
  }
}

const transportOf = (authProvider: Provider) =>
  new StreamableHTTPClientTransport(new URL("https://heddle.example/mcp"), { authProvider, fetch: fetchFrom });
const newClient = () => new Client({ name: "a test", version: "1" });

async function decide(provider: Provider, decision: object) {
  const request = Object.fromEntries(provider.browser!.searchParams);
  return call("POST", "/api/v1/oauth/authorizations", { ...request, ...decision }, asAnn);
}
async function authorize(decision: object = { allow: true }) {
  const provider = new Provider();
  const transport = transportOf(provider);
  await expect(newClient().connect(transport as never)).rejects.toThrow(UnauthorizedError);
  const { json } = await decide(provider, decision);
  const target = new URL(json.redirect_to);
  await transport.finishAuth(target.searchParams.get("code")!);
  return { provider, target };
}
const exchange = (form: Record<string, string>) =>
  call("POST", "/oauth/token", new URLSearchParams(form).toString(), {
    "content-type": "application/x-www-form-urlencoded",
  });
const refresh = ({ saved }: Provider) =>
  exchange({
    grant_type: "refresh_token",
    refresh_token: saved["tokens"].refresh_token,
    client_id: saved["client"].client_id,
  });

test("the official client connects: discovery, registration, consent, PKCE, calls of tools", async () => {
  const { provider, target } = await authorize();
  const led = await call("GET", provider.browser!.pathname + provider.browser!.search);
  const page = new URL(led.headers.get("location")!);
  expect([led.status, page.origin + page.pathname]).toEqual([302, "https://console.example/authorize"]);
  const request = JSON.parse(Buffer.from(page.searchParams.get("request")!, "base64url").toString());
  expect(request).toEqual(Object.fromEntries(provider.browser!.searchParams));
  const described = await call("GET", `/api/v1/oauth/authorizations${provider.browser!.search}`, undefined, asAnn);
  expect(described.json).toEqual({
    client_name: "Code agent",
    client_host: null,
    is_local: true,
    redirects_to: "127.0.0.1:33418",
    resource: "https://heddle.example/mcp",
    wants_write: true,
  });
  expect([target.origin, target.searchParams.get("iss")]).toEqual([new URL(CALLBACK).origin, env.HEDDLE_PUBLIC_URL]);
  const client = newClient();
  await client.connect(transportOf(provider) as never);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("add_feedback");
  expect((await client.callTool({ name: "list_projects", arguments: {} })).isError).toBe(false);
  await client.close();
  expect(provider.saved["tokens"]).toMatchObject({ expires_in: 3600, scope: "read write" });
});

test("a token is valid at /mcp only, with its user's rights in one workspace, or the reading ones", async () => {
  const { provider } = await authorize({ allow: true, read_only: true });
  const bearer = { authorization: `Bearer ${provider.saved["tokens"].access_token}` };
  expect((await call("GET", "/api/v1/sessions", undefined, bearer)).status).toBe(403);
  expect((await call("POST", "/api/v1/api-key", {}, bearer)).status).toBe(403);
  const client = newClient();
  await client.connect(transportOf(provider) as never);
  expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain("add_feedback");
  const refused = await client.callTool({ name: "create_dataset", arguments: { name: "x" } });
  expect([refused.isError, JSON.stringify(refused.content)]).toEqual([
    true,
    expect.stringContaining("datasets:create"),
  ]);
  await client.close();
  // another server of the installation does not know the resource
  const other = await testGuard(db);
  const headers = new Headers(bearer);
  await expect(
    (async () => other.authenticator.authenticate({ headers, method: "POST", ip: "", path: "/mcp" }))(),
  ).rejects.toThrow("valid for /mcp only");
});

test("tokens rotate; a copied one ends the access, and so does its user or a revocation", async () => {
  const { provider } = await authorize();
  const first = provider.saved["tokens"];
  const second = await refresh(provider);
  expect(second.json).toMatchObject({ token_type: "Bearer", scope: "read write" });
  const ping = async (token: string) => {
    const headers = { authorization: `Bearer ${token}`, accept: "application/json, text/event-stream" };
    return (await call("POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "ping" }, headers)).status;
  };
  expect([await ping(first.access_token), await ping(second.json.access_token)]).toEqual([401, 200]);
  // the answer may have been lost
  const third = await refresh(provider);
  expect(third.status).toBe(200);
  await db.sql`update oauth_grants set used_at = now() - interval '2 minutes'`;
  provider.saved["tokens"] = second.json;
  const copied = await refresh(provider);
  expect([copied.status, copied.json.error]).toEqual([400, "invalid_grant"]);
  expect(await ping(third.json.access_token)).toBe(401);

  const revoked = (await authorize()).provider.saved["tokens"];
  const form = { "content-type": "application/x-www-form-urlencoded" };
  expect((await call("POST", "/oauth/revoke", `token=${revoked.refresh_token}`, form)).status).toBe(200);
  expect(await ping(revoked.access_token)).toBe(401);

  const listed = (await authorize()).provider;
  const keys = (await call("GET", "/api/v1/api-key/current", undefined, asAnn)).json as Record<string, string>[];
  const key = keys.find(({ short_key: short }) => listed.saved["tokens"].access_token.endsWith(short!.slice(-4)))!;
  expect(key).toMatchObject({ description: "Code agent (OAuth)" });
  expect((await call("DELETE", `/api/v1/api-key/current/${key["id"]}`, undefined, asAnn)).status).toBe(200);
  expect((await refresh(listed)).json.error).toBe("invalid_grant");
});

test("rejects what no registered client sends, and codes without their verifier or twice", async () => {
  const provider = new Provider();
  await expect(newClient().connect(transportOf(provider) as never)).rejects.toThrow(UnauthorizedError);
  const denied = await decide(provider, { allow: false });
  expect(new URL(denied.json.redirect_to).searchParams.get("error")).toBe("access_denied");
  for (const [change, what] of [
    [{ redirect_uri: "https://evil.example/callback" }, "redirect_uri"],
    [{ client_id: "hcl_none" }, "client_id"],
    [{ resource: "https://other.example/mcp" }, "resource"],
    [{ code_challenge_method: "plain" }, "code_challenge_method"],
  ] as const) {
    const answer = await decide(provider, { allow: true, ...change });
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining(what)]);
  }
  for (const uri of ["http://evil.example/x", "javascript:alert(1)", "https://a@b.example/"]) {
    expect((await call("POST", "/oauth/register", { redirect_uris: [uri] })).status).toBe(422);
  }
  const { json } = await decide(provider, { allow: true });
  const form = {
    grant_type: "authorization_code",
    code: new URL(json.redirect_to).searchParams.get("code")!,
    client_id: provider.saved["client"].client_id,
    redirect_uri: CALLBACK,
  };
  expect((await exchange({ ...form, code_verifier: "wrong" })).json.error_description).toContain("code_verifier");
  expect(
    (await exchange({ ...form, code_verifier: provider.codeVerifier(), resource: "https://x.example" })).json,
  ).toMatchObject({
    error: "invalid_target",
  });
  const made = await exchange({ ...form, code_verifier: provider.codeVerifier() });
  expect(made.status).toBe(200);
  expect((await exchange({ ...form, code_verifier: provider.codeVerifier() })).json.error).toBe("invalid_grant");
  const bearer = { authorization: `Bearer ${made.json.access_token}` };
  expect((await call("POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "ping" }, bearer)).status).toBe(401);
  // a key is no person
  const asKey = { "x-api-key": a.admin };
  const request = Object.fromEntries(provider.browser!.searchParams);
  expect((await call("POST", "/api/v1/oauth/authorizations", { ...request, allow: true }, asKey)).status).toBe(403);
});

test.each([
  { keyless: false, onLoopback: false },
  { keyless: true, onLoopback: true },
])("pages of any origin may call what MCP clients need, and only where a key is required: %o", async (reach) => {
  const reached = createTraceApp(platform.deps, guard, reach);
  const policy = tracePages(platform.deps, reach);
  const origin = "https://inspector.example";
  const ask = async (url: string) => {
    const headers = { origin, "access-control-request-method": "POST", "access-control-request-headers": "mcp-method" };
    const answer = await reached.request(url, { method: "OPTIONS", headers });
    const isRejected =
      rejectPage({ method: "POST", url, headers: { origin, host: "localhost" } }, policy) !== undefined;
    return [isRejected, answer.headers.get("access-control-allow-origin")];
  };
  const open = [
    "/mcp",
    "/.well-known/oauth-protected-resource/mcp",
    "/.well-known/oauth-authorization-server",
    "/oauth/register",
    "/oauth/token",
    "/oauth/revoke",
  ];
  for (const path of open)
    expect([path, ...(await ask(path))]).toEqual([path, ...(reach.keyless ? [true, null] : [false, "*"])]);
  for (const path of ["/api/v1/sessions", "/api/v1/oauth/authorizations", "/mcp/x", "/oauth/tokens"])
    expect([path, ...(await ask(path))]).toEqual([path, true, null]);
  if (reach.keyless) return;
  const answer = await reached.request("/mcp", { method: "POST", headers: { origin } });
  expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([401, "*"]);
  const exposed = answer.headers.get("access-control-expose-headers")!.split(",");
  expect(exposed).toEqual(expect.arrayContaining(["mcp-session-id", "www-authenticate"]));
  expect(answer.headers.get("www-authenticate")).toContain("resource_metadata=");
});
