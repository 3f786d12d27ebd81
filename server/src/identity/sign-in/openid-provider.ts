/**
 * Sign-in at an OpenID provider: authorization code flow with PKCE (RFC 7636), state and nonce, according to the OAuth
 * security best practice (RFC 9700). The library checks responses, signatures and claims. This file supplies the
 * addresses and routes all calls through the outbound guard.
 */
import type { Configuration } from "openid-client";

import { ConfigError } from "../../base/config/options.ts";
import { AppError, forbidden } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { OutboundError } from "../../base/outbound/outbound-error.ts";
import type { Outbound } from "../../base/outbound/outbound.ts";
import type { SignInSettings } from "./settings.ts";

/** Time in milliseconds for which the provider's metadata and keys are cached. */
const KEEP_METADATA_MS = 3_600_000;
const TIMEOUT_SECS = 10;

export const CALLBACK_PATH = "/auth/oidc/callback";

/** State that the browser keeps during the round trip to the provider. */
export interface Flow {
  state: string;
  nonce: string;
  verifier: string;
}

/** Person as identified by the provider. */
export interface ProvidedPerson {
  issuer: string;
  subject: string;
  /** Lower case; null unless the provider has verified it. */
  email: string | null;
  name: string | null;
}

export interface OpenIdProvider {
  issuer: string;
  /** Returns the URL to redirect the browser to, and the state of the attempt. */
  start(): Promise<{ url: URL; flow: Flow }>;
  /**
   * Completes a sign-in from the callback's `query`. Throws 400 for an invalid response, 403 when the provider rejected.
   */
  finish(query: URLSearchParams, flow: Flow): Promise<ProvidedPerson>;
}

/** Returns null when no provider is configured. Throws ConfigError for an incomplete configuration. */
export function createOpenIdProvider(
  settings: SignInSettings,
  outbound: Pick<Outbound, "fetch">,
  log: Log,
): OpenIdProvider | null {
  const { oidcIssuer: issuer, oidcClientId: clientId, browserUrl } = settings;
  if (issuer === undefined) return null;
  if (clientId === undefined) throw new ConfigError("HEDDLE_OIDC_ISSUER requires HEDDLE_OIDC_CLIENT_ID.");
  if (browserUrl === undefined) {
    throw new ConfigError("HEDDLE_OIDC_ISSUER requires HEDDLE_PUBLIC_URL, to which the provider redirects browsers.");
  }
  const insecure = !issuer.startsWith("https:");
  if (insecure && !/^(127(\.\d+){3}|localhost|\[::1\])$/.test(new URL(issuer).hostname)) {
    throw new ConfigError("HEDDLE_OIDC_ISSUER must be an https URL; only a provider on loopback may use http.");
  }
  const redirectUri = browserUrl + CALLBACK_PATH;

  let known: { configuration: Promise<Configuration>; at: number } | undefined;
  async function configuration(): Promise<Configuration> {
    if (!known || performance.now() - known.at > KEEP_METADATA_MS) {
      known = { configuration: discover(), at: performance.now() };
      // failures are not cached
      known.configuration.catch(() => (known = undefined));
    }
    return known.configuration;
  }
  async function discover(): Promise<Configuration> {
    const client = await library();
    const secret = settings.oidcClientSecret;
    return client.discovery(
      new URL(issuer!),
      clientId!,
      undefined,
      secret === undefined ? client.None() : client.ClientSecretBasic(secret),
      {
        timeout: TIMEOUT_SECS,
        [client.customFetch]: (url, init) =>
          outbound.fetch(url, { ...init, body: init.body as string | URLSearchParams | null }),
        ...(insecure && { execute: [client.allowInsecureRequests] }),
      },
    );
  }

  return {
    issuer,
    async start() {
      const client = await library();
      const config = await configuration().catch((error: unknown) => fail(error, log));
      const flow = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      };
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: settings.oidcScopes,
        state: flow.state,
        nonce: flow.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(flow.verifier),
        code_challenge_method: "S256",
      });
      return { url, flow };
    },
    async finish(query, flow) {
      const client = await library();
      try {
        const config = await configuration();
        const tokens = await client.authorizationCodeGrant(config, new URL(`${redirectUri}?${query}`), {
          expectedState: flow.state,
          expectedNonce: flow.nonce,
          pkceCodeVerifier: flow.verifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims()!;
        const profile = { ...claims } as Record<string, unknown>;
        // many providers return the address from the userinfo endpoint only
        if (profile["email"] === undefined && config.serverMetadata().userinfo_endpoint !== undefined) {
          Object.assign(profile, await client.fetchUserInfo(config, tokens.access_token, claims.sub));
        }
        const isVerified = profile["email_verified"] === true || profile["email_verified"] === "true";
        return {
          issuer: claims.iss,
          subject: claims.sub,
          email: isVerified && typeof profile["email"] === "string" ? profile["email"].toLowerCase() : null,
          name: typeof profile["name"] === "string" ? profile["name"] : null,
        };
      } catch (error) {
        return fail(error, log);
      }
    },
  };
}

/** Reports errors without tokens, codes or claims: messages end up in logs and browsers. */
function fail(thrown: unknown, log: Log): never {
  if (thrown instanceof AppError) throw thrown;
  const { code = "unknown", error, cause } = thrown as { code?: string; error?: string; cause?: unknown };
  if (cause instanceof OutboundError) throw cause;
  log.warn({ code, error }, "sign-in at the identity provider failed");
  if (code === "OAUTH_AUTHORIZATION_RESPONSE_ERROR")
    throw forbidden(`The identity provider denied the sign-in: ${error}.`);
  throw new AppError(400, `The identity provider's response is invalid (${code}). Sign in again.`);
}

/** Loaded on first use. */
const library = () => import("openid-client");
