import { ConfigError, flag, integer, type Options, type OptionSpec, text } from "../../base/config/options.ts";

/** Settings of sessions and sign-in, the same in every role. */
export const signInOptions = {
  publicUrl: {
    env: ["HEDDLE_PUBLIC_URL", "HEDDLE_TRACE_PUBLIC_URL"],
    default: undefined,
    description:
      "Where browsers reach this server, such as https://heddle.example. With https, cookies are sent over https only.",
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
    description: "Hours after which a session ends however much it is used.",
  }),
  passwordSignIn: flag({
    env: ["HEDDLE_PASSWORD_SIGN_IN"],
    default: true,
    description: "Whether people may sign in with a password; off where an identity provider is the only way.",
  }),
  oidcIssuer: {
    env: ["HEDDLE_OIDC_ISSUER"],
    default: undefined,
    description: "Issuer of an OpenID provider that people sign in with; its discovery document is read from there.",
    parse: httpUrl,
  } satisfies OptionSpec<string | undefined> as OptionSpec<string | undefined>,
  oidcClientId: text({
    env: ["HEDDLE_OIDC_CLIENT_ID"],
    default: undefined,
    description: "Client id that the provider gave to this installation.",
  }),
  oidcClientSecret: text({
    env: ["HEDDLE_OIDC_CLIENT_SECRET"],
    default: undefined,
    description: "Client secret; leave it out for a public client, which PKCE alone protects.",
    secret: true,
  }),
  oidcScopes: text({
    env: ["HEDDLE_OIDC_SCOPES"],
    default: "openid email profile",
    description: "Scopes that are asked for, with spaces between; openid and email are needed.",
  }),
};

export type SignInSettings = Options<typeof signInOptions>;

function httpUrl(value: string): string {
  if (!URL.canParse(value) || !/^https?:/.test(value)) throw new ConfigError(`must be an http(s) URL, not "${value}"`);
  return value.replace(/\/+$/, "");
}
