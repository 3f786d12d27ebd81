import { z } from "zod";

import { storableText } from "../../base/http/fields.ts";
import { redirectUri, registrationBody } from "./client-id.ts";

export const SCOPES = ["read", "write"] as const;

/** The parameters with which a client sends its user to the consent page (RFC 6749 §4.1.1, RFC 7636, RFC 8707). */
export const authorizationRequest = z.object({
  response_type: z.literal("code"),
  client_id: z.string().max(4000),
  redirect_uri: redirectUri,
  code_challenge: z.string().regex(/^[\w-]{43}$/, "must be the SHA-256 of the verifier in Base64url"),
  code_challenge_method: z.literal("S256"),
  scope: z.string().max(500).optional(),
  state: storableText.max(4000).optional(),
  resource: z.string().max(2000).optional(),
});
export type AuthorizationRequest = z.output<typeof authorizationRequest>;

export const describedRequest = z
  .object({
    client_name: z.string(),
    /** Host that publishes the program's document; null for one that has registered itself under any name. */
    client_host: z.string().nullable(),
    /** Whether any program of the user's computer could receive the answer. */
    is_local: z.boolean(),
    /** Where the answer goes: the host, or the scheme of an app. */
    redirects_to: z.string(),
    resource: z.string(),
    wants_write: z.boolean(),
  })
  .meta({ id: "OAuthRequest" });

export const decisionBody = authorizationRequest
  .extend({ allow: z.boolean(), read_only: z.boolean().default(false) })
  .meta({ id: "OAuthDecision" });

export const decisionAnswer = z.object({ redirect_to: z.string() });

export const clientRegistration = registrationBody.meta({ id: "OAuthClientRegistration" });

export const registeredClient = z
  .object({
    client_id: z.string(),
    client_id_issued_at: z.int(),
    client_name: z.string(),
    redirect_uris: z.array(z.string()),
    grant_types: z.array(z.string()),
    response_types: z.array(z.string()),
    token_endpoint_auth_method: z.literal("none"),
  })
  .meta({ id: "OAuthClient" });

export const tokenAnswer = z
  .object({
    access_token: z.string(),
    token_type: z.literal("Bearer"),
    expires_in: z.int(),
    refresh_token: z.string(),
    scope: z.string(),
  })
  .meta({ id: "OAuthTokens" });

/** RFC 6749 §5.2. */
export const oauthError = z.object({ error: z.string(), error_description: z.string() }).meta({ id: "OAuthError" });

/** RFC 8414 §2. */
export const serverMetadata = z
  .object({
    issuer: z.string(),
    authorization_endpoint: z.string(),
    token_endpoint: z.string(),
    client_id_metadata_document_supported: z.boolean(),
    registration_endpoint: z.string(),
    revocation_endpoint: z.string(),
    response_types_supported: z.array(z.string()),
    grant_types_supported: z.array(z.string()),
    code_challenge_methods_supported: z.array(z.string()),
    token_endpoint_auth_methods_supported: z.array(z.string()),
    revocation_endpoint_auth_methods_supported: z.array(z.string()),
    scopes_supported: z.array(z.string()),
    authorization_response_iss_parameter_supported: z.boolean(),
  })
  .meta({ id: "OAuthServerMetadata" });
