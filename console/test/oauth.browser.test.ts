/** Programs ask a user for access to /mcp: with the official clients in Node and in a page of another origin. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { build } from "esbuild";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { freePort } from "../../server/src/base/free-port.ts";
import { Certificates } from "../../test/kubernetes/certificates.ts";
import { openBrowser, openPage, seriousFindings } from "./browser.ts";
import { heddle, type Platform, startPlatform } from "./platform.ts";

const EMAIL = "ada@example.com";
const PASSWORD = "a long enough password";
const CALLBACK = "http://127.0.0.1:33418/callback";
const directory = mkdtempSync(join(tmpdir(), "heddle-oauth-"));
const servers: Server[] = [];

async function listen(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return (server.address() as AddressInfo).port;
}

let platform: Platform;
let browser: Browser;
/** URL of a program's metadata document. */
let documentUrl: string;
beforeAll(async () => {
  const certificates = new Certificates(directory);
  const { certFile, keyFile } = certificates.server("client", ["127.0.0.1"]);
  const publisher = createTlsServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, (_, response) =>
    response.end(JSON.stringify({ client_id: documentUrl, client_name: "Code agent", redirect_uris: [CALLBACK] })),
  );
  documentUrl = `https://127.0.0.1:${await listen(publisher)}/client.json`;
  const [port, consolePort] = [String(await freePort()), String(await freePort())];
  platform = await startPlatform("dev", {
    HEDDLE_AUTH: "required",
    HEDDLE_CONSOLE_PORT: consolePort,
    HEDDLE_CONSOLE_URL: `http://127.0.0.1:${consolePort}`,
    HEDDLE_PUBLIC_URL: `http://127.0.0.1:${consolePort}/api/trace`,
    HEDDLE_TRACE_PORT: port,
    HEDDLE_TRACE_PUBLIC_URL: `http://127.0.0.1:${port}`,
    HEDDLE_OUTBOUND_ALLOW: "127.0.0.1",
    NODE_EXTRA_CA_CERTS: certificates.caFile,
  });
  browser = await openBrowser();
  await heddle(platform, ["users", "create", "--email", EMAIL, "--name", "Ada", "--password-stdin"], `${PASSWORD}\n`);
});
afterAll(async () => {
  await browser?.close();
  await platform?.stop();
  for (const server of servers) server.close();
  rmSync(directory, { recursive: true, force: true });
});

async function signIn(page: Page): Promise<void> {
  await page.waitForURL(/\/sign-in/);
  await page.getByLabel(/^Email/).fill(EMAIL);
  await page.getByLabel(/^Password/).fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

class Program implements OAuthClientProvider {
  redirectUrl = CALLBACK;
  clientMetadataUrl = documentUrl;
  clientMetadata = { client_name: "Code agent", redirect_uris: [CALLBACK], token_endpoint_auth_method: "none" };
  authorizationUrl: URL | undefined;
  // oxlint-disable-next-line typescript/no-explicit-any -- what the client saves is its own
  saved: Record<string, any> = {};
  clientInformation = () => this.saved["client"];
  saveClientInformation = (value: unknown) => void (this.saved["client"] = value);
  tokens = () => this.saved["tokens"];
  saveTokens = (value: unknown) => void (this.saved["tokens"] = value);
  redirectToAuthorization = (url: URL) => void (this.authorizationUrl = url);
  saveCodeVerifier = (value: string) => void (this.saved["verifier"] = value);
  codeVerifier = () => this.saved["verifier"] as string;
}

test("a program with a metadata document is denied, then allowed, and a wrong one is not redirected to", async () => {
  const program = new Program();
  const transport = () =>
    new StreamableHTTPClientTransport(new URL(`${platform.traceUrl}/mcp`), { authProvider: program });
  const connect = async () => {
    const client = new Client({ name: "a test", version: "1" });
    await client.connect(transport() as never);
    return client;
  };
  await expect(connect()).rejects.toThrow(UnauthorizedError);
  expect(program.authorizationUrl!.searchParams.get("client_id")).toBe(documentUrl);

  const { page, context, errors } = await openPage(browser);
  await context.route(`${CALLBACK}*`, (route) => route.fulfill({ body: "received" }));
  const answer = async (button: string) => {
    await page.getByRole("button", { name: button, exact: true }).click();
    await page.waitForURL(`${CALLBACK}*`);
    return new URL(page.url()).searchParams;
  };
  await page.goto(program.authorizationUrl!.href);
  await signIn(page);
  await page.getByText("Code agent").waitFor();
  await page.getByText(`${new URL(documentUrl).host} publishes this program.`).waitFor();
  await page.getByText(/any program of this computer/).waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  const denied = await answer("Deny");
  expect([denied.get("error"), denied.get("code"), denied.get("iss")]).toEqual([
    "access_denied",
    null,
    platform.traceUrl,
  ]);

  await page.goto(program.authorizationUrl!.href);
  await page.getByLabel("Read only").check();
  const allowed = await answer("Allow");
  await transport().finishAuth(allowed.get("code")!);
  const client = await connect();
  const names = (await client.listTools()).tools.map(({ name }) => name);
  expect(names).toContain("query_runs");
  expect(names).not.toContain("add_feedback");
  await client.close();

  for (const [field, value, message] of [
    ["client_id", "hcl_unknown", "client_id"],
    ["client_id", `${documentUrl}x`, "another client_id"],
    ["redirect_uri", "https://evil.example/", "redirect_uri"],
    ["resource", "https://evil.example/mcp", "resource"],
  ] as const) {
    const wrong = new URL(program.authorizationUrl!.href);
    wrong.searchParams.set(field, value);
    await page.goto(wrong.href);
    await page.getByText(new RegExp(message)).first().waitFor();
    expect(await page.getByRole("button", { name: "Allow" }).count()).toBe(0);
  }
  expect(errors).toEqual([]);
  await context.close();
});

test("the official client in a page of another origin registers, is allowed and calls tools", async () => {
  const bundle = await build({
    stdin: { contents: PAGE_CLIENT(`${platform.traceUrl}/mcp`), resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
  });
  const site = createServer((request, response) => {
    const isScript = request.url === "/app.js";
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    response.end(isScript ? bundle.outputFiles[0]!.text : '<script type="module" src="/app.js"></script>');
  });
  const origin = `http://127.0.0.1:${await listen(site)}`;
  const { page, context } = await openPage(browser);
  await page.goto(origin);
  await signIn(page);
  await page.getByText("Web inspector").waitFor();
  await page.getByText("Any program can give itself a name").waitFor();
  await page.getByRole("button", { name: "Allow" }).click();
  await page.waitForURL(`${origin}/callback*`);
  await page.waitForFunction(() => document.title !== "");
  expect(await page.title()).toMatch(/^tools: .*query_runs.*add_feedback/);
  await context.close();
});

/** Program of the page: connects, and shows the names of the tools as its title. */
const PAGE_CLIENT = (resource: string) => `
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";
const read = (key) => JSON.parse(sessionStorage.getItem(key) ?? "null") ?? undefined;
const keep = (key) => (value) => sessionStorage.setItem(key, JSON.stringify(value));
const callback = location.origin + "/callback";
const authProvider = {
  redirectUrl: callback,
  clientMetadata: { client_name: "Web inspector", redirect_uris: [callback], token_endpoint_auth_method: "none" },
  clientInformation: () => read("client"), saveClientInformation: keep("client"),
  tokens: () => read("tokens"), saveTokens: keep("tokens"),
  codeVerifier: () => read("verifier"), saveCodeVerifier: keep("verifier"),
  discoveryState: () => read("discovery"), saveDiscoveryState: keep("discovery"),
  redirectToAuthorization: (url) => location.assign(url),
};
const transport = () => new StreamableHTTPClientTransport(new URL(${JSON.stringify(resource)}), { authProvider });
const answer = new URLSearchParams(location.search);
try {
  if (answer.has("code")) await transport().finishAuth(answer);
  const client = new Client({ name: "web", version: "1" });
  await client.connect(transport());
  document.title = "tools: " + (await client.listTools()).tools.map(({ name }) => name).join(" ");
} catch (error) {
  if (!(error instanceof UnauthorizedError)) document.title = "failed: " + error;
}
`;
