import { ConfigError, flag, integer, type Options, type OptionSpec, text } from "../../base/config/options.ts";

/** Settings of sessions and sign-in, the same in every role. */
export const signInOptions = {
  browserUrl: {
    env: ["HEDDLE_PUBLIC_URL", "HEDDLE_TRACE_PUBLIC_URL"],
    default: undefined,
    description:
      "URL at which browsers reach this server, such as https://heddle.example. With https, cookies are sent " +
      "over https only.",
    parse: httpUrl,
  } satisfies OptionSpec<string | undefined> as OptionSpec<string | undefined>,
  sessionIdleMinutes: integer({
    env: ["HEDDLE_SESSION_IDLE_MINUTES"],
    default: 12 * 60,
    min: 5,
    max: 525_600,
    description: "Minutes without a request after which a session ends.",
  }),
  sessionMaxHours: integer({
    env: ["HEDDLE_SESSION_MAX_HOURS"],
    default: 7 * 24,
    min: 1,
    max: 8760,
    description: "Maximum lifetime of a session in hours, even if it is in use.",
  }),
  passwordSignIn: flag({
    env: ["HEDDLE_PASSWORD_SIGN_IN"],
    default: true,
    description: "Whether users may sign in with a password; turn it off if users must use the identity provider.",
  }),
  oidcIssuer: {
    env: ["HEDDLE_OIDC_ISSUER"],
    default: undefined,
    description: "Issuer URL of the OpenID provider, from which its discovery document is read.",
    parse: httpUrl,
  } satisfies OptionSpec<string | undefined> as OptionSpec<string | undefined>,
  oidcClientId: text({
    env: ["HEDDLE_OIDC_CLIENT_ID"],
    default: undefined,
    description: "Client id of this installation at the provider.",
  }),
  oidcClientSecret: text({
    env: ["HEDDLE_OIDC_CLIENT_SECRET"],
    default: undefined,
    description: "Client secret; omit it for a public client, which only PKCE protects.",
    secret: true,
  }),
  oidcScopes: text({
    env: ["HEDDLE_OIDC_SCOPES"],
    default: "openid email profile",
    description: "Requested scopes, separated by spaces; openid and email are required.",
  }),
};

export type SignInSettings = Options<typeof signInOptions>;

function httpUrl(value: string): string {
  if (!URL.canParse(value) || !/^https?:/.test(value)) throw new ConfigError(`must be an http(s) URL, not "${value}"`);
  return value.replace(/\/+$/, "");
}
