import { choice, ConfigError, flag, integer, type Options, type OptionSpec, text } from "../base/config/options.ts";
import { clientIpOptions } from "../base/http/client-ip.ts";
import { isUuid } from "../base/ids.ts";
import { auditOptions } from "./audit/settings.ts";
import { addressOptions } from "./exposure.ts";
import { signInOptions } from "./sign-in/settings.ts";

const workspaceId: OptionSpec<string | undefined> = {
  env: ["HEDDLE_WORKSPACE_ID"],
  default: undefined,
  description: "Workspace of the agent server. Default: the default workspace.",
  parse(value) {
    if (!isUuid(value)) throw new ConfigError(`must be a UUID, not "${value}"`);
    return value.toLowerCase();
  },
};

/** Settings of authentication and audit, the same in every role. */
export const identityOptions = {
  auth: choice({
    env: ["HEDDLE_AUTH"],
    default: "auto",
    of: ["auto", "required", "off", "published"],
    description:
      "Whether requests require a key. auto: required if other machines can reach the server, as indicated by a " +
      "listen address other than loopback, a trusted proxy, a public URL or a gateway domain. published: not " +
      "required, because the port is published on loopback only, or a gateway in front controls access.",
  }),
  workspaceId,
  authUrl: {
    env: ["HEDDLE_AUTH_URL"],
    default: undefined,
    description:
      "URL of a Heddle platform that verifies keys for this agent server, which then stores none; used by " +
      "deployments.",
    parse: parseUrl,
  } satisfies OptionSpec<string | undefined> as OptionSpec<string | undefined>,
  authKey: text<string | undefined>({
    env: ["HEDDLE_AUTH_KEY"],
    default: undefined,
    secret: true,
    description: "This server's own key for HEDDLE_AUTH_URL, a key to its workspace with any role.",
  }),
  authMaxAgeSecs: integer({
    env: ["HEDDLE_AUTH_MAX_AGE_SECS"],
    default: 60,
    min: 1,
    max: 3600,
    description:
      "How long verified keys are trusted while HEDDLE_AUTH_URL does not answer; otherwise a revocation there " +
      "applies at once.",
  }),
  authStartSecs: integer({
    env: ["HEDDLE_AUTH_START_SECS"],
    default: 30,
    min: 1,
    max: 86_400,
    description: "How long a starting server waits for HEDDLE_AUTH_URL to answer, before it exits.",
  }),
  besideDeployments: flag({
    env: ["HEDDLE_BESIDE_DEPLOYMENTS"],
    default: false,
    description:
      "Whether deployments run as processes on this machine. A server that requires no key then still requires " +
      "one from their system users, which it determines for each new connection. heddle up and the control " +
      "plane set this for the servers that they start.",
  }),
  ...addressOptions,
  ...clientIpOptions,
  ...signInOptions,
  ...auditOptions,
};

function parseUrl(value: string): string {
  if (!/^https?:\/\//.test(value) || !URL.canParse(value)) throw new ConfigError(`must be a URL, not "${value}"`);
  return value.replace(/\/+$/, "");
}

export type IdentitySettings = Options<typeof identityOptions>;
