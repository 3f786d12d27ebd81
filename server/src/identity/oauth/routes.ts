import type { Sql } from "../../base/db/connect.ts";
import { notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { Outbound } from "../../base/outbound/outbound.ts";
import { OAuthClients } from "./client-document.ts";
import { isLoopback, toClientId } from "./client-id.ts";
import { decide, readRequest, wantsWrite } from "./decide.ts";
import { exchangeToken } from "./exchange-token.ts";
import * as schema from "./schema.ts";
import { revokeToken } from "./sql.ts";

export interface OAuthOptions {
  sql: Sql;
  /** Fetches the documents of clients. */
  outbound: Pick<Outbound, "fetch">;
  /** Without one, clients behind proxies would be told of addresses that they cannot reach, and OAuth is off. */
  publicUrl: string | undefined;
  /** Where the consent page is. */
  consoleUrl: string;
  /** Path of the protected resource. */
  path: string;
}

const shared = { tag: "OAuth" } as const;
const FORM = ["application/x-www-form-urlencoded"];

/**
 * Authorization server for the MCP clients of users (RFC 6749 with PKCE, RFC 7591, 8414 and 8707). Its consent page is
 * the console's; its tokens are personal keys (docs/machines.md).
 */
export function oauthRoutes({ sql, outbound, publicUrl, consoleUrl, path }: OAuthOptions): Route[] {
  const findIssuer = (): string => {
    if (publicUrl !== undefined) return publicUrl.replace(/\/+$/, "");
    throw notFound(
      "OAuth needs the public URL of the platform: set HEDDLE_TRACE_PUBLIC_URL. Use an API key meanwhile.",
    );
  };
  const clients = new OAuthClients(outbound);
  const findResource = () => ({ issuer: findIssuer(), path });
  return [
    route({
      ...shared,
      method: "GET",
      path: "/.well-known/oauth-authorization-server",
      permission: "public",
      publicBecause: "clients read it to find out how to ask for access (RFC 8414)",
      summary: "Describe the authorization server of MCP clients",
      out: { 200: schema.serverMetadata },
      errors: [404],
      handler({ c }) {
        const issuer = findIssuer();
        return c.json({
          issuer,
          authorization_endpoint: `${issuer}/oauth/authorize`,
          token_endpoint: `${issuer}/oauth/token`,
          client_id_metadata_document_supported: true,
          registration_endpoint: `${issuer}/oauth/register`,
          revocation_endpoint: `${issuer}/oauth/revoke`,
          response_types_supported: ["code"],
          grant_types_supported: ["authorization_code", "refresh_token"],
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: ["none"],
          revocation_endpoint_auth_methods_supported: ["none"],
          scopes_supported: [...schema.SCOPES],
          authorization_response_iss_parameter_supported: true,
        });
      },
    }),
    route({
      ...shared,
      method: "GET",
      path: "/oauth/authorize",
      permission: "public",
      publicBecause: "it only leads the browser to the consent page, which reads the parameters",
      summary: "Lead the user's browser to the consent page",
      out: { 302: null },
      handler({ c }) {
        // one text, so that the page's router changes no parameter
        const request = Buffer.from(JSON.stringify(c.req.query())).toString("base64url");
        return c.redirect(`${consoleUrl.replace(/\/+$/, "")}/authorize?request=${request}`);
      },
    }),
    route({
      ...shared,
      method: "POST",
      path: "/oauth/register",
      permission: "public",
      publicBecause: "programs register before they have a user (RFC 7591); nothing is stored",
      audit: "none",
      summary: "Register a program: its name and where its user is sent back",
      body: schema.clientRegistration,
      out: { 201: schema.registeredClient },
      handler({ body, c }) {
        c.header("Cache-Control", "no-store");
        const answer = {
          client_id: toClientId(body),
          client_id_issued_at: Math.floor(Date.now() / 1000),
          ...body,
          grant_types: ["authorization_code", "refresh_token"],
          response_types: ["code"],
          token_endpoint_auth_method: "none",
        };
        return c.json(answer, 201);
      },
    }),
    route({
      ...shared,
      ...v1("/oauth/authorizations"),
      method: "GET",
      permission: "workspaces:read",
      summary: "Check and describe what a program asks for, for the consent page",
      query: schema.authorizationRequest,
      out: { 200: schema.describedRequest },
      errors: [404],
      async handler({ query, c }) {
        const { client_name, client_host = null } = await readRequest(clients, query, findResource());
        const { protocol, host } = new URL(query.redirect_uri);
        return c.json({
          client_name,
          client_host,
          is_local: isLoopback(query.redirect_uri),
          redirects_to: host === "" ? protocol : host,
          resource: findIssuer() + path,
          wants_write: wantsWrite(query),
        });
      },
    }),
    route({
      ...shared,
      ...v1("/oauth/authorizations"),
      method: "POST",
      permission: "workspaces:read",
      audit: "change",
      auditFields: ["allow", "read_only", "redirect_uri"],
      summary: "Allow or deny a program access in the caller's name, in the current workspace",
      body: schema.decisionBody,
      out: { 200: schema.decisionAnswer },
      errors: [404],
      async handler({ body, principal, c }) {
        c.header("Cache-Control", "no-store");
        return c.json({ redirect_to: await decide({ sql, clients }, principal, body, findResource()) });
      },
    }),
    route({
      ...shared,
      method: "POST",
      path: "/oauth/token",
      permission: "public",
      publicBecause: "the code with its verifier, or the refresh token, is the credential",
      audit: "none",
      summary: "Exchange an authorization code or a refresh token for tokens",
      reads: FORM,
      out: { 200: schema.tokenAnswer, 400: schema.oauthError },
      errors: [404],
      async handler({ c }) {
        const answer = await exchangeToken(sql, new URLSearchParams(await c.req.text()), findIssuer() + path);
        c.header("Cache-Control", "no-store");
        return "error" in answer ? c.json(answer, 400) : c.json(answer);
      },
    }),
    route({
      ...shared,
      method: "POST",
      path: "/oauth/revoke",
      permission: "public",
      publicBecause: "it ends only the access whose token is sent (RFC 7009)",
      audit: "none",
      summary: "Revoke the access that a token belongs to",
      reads: FORM,
      out: { 200: null },
      async handler({ c }) {
        const token = new URLSearchParams(await c.req.text()).get("token");
        if (token) await revokeToken(sql, token);
        return c.body(null, 200);
      },
    }),
  ];
}
