import { choice, ConfigError, flag, integer, type Options, type OptionSpec, text } from "../base/config/options.ts";
import { clientIpOptions } from "../base/http/client-ip.ts";
import { isUuid } from "../base/ids.ts";
import { auditOptions } from "./audit/settings.ts";
import { addressOptions } from "./exposure.ts";
import { signInOptions } from "./sign-in/settings.ts";

const workspaceId: OptionSpec<string | undefined> = {
  env: ["HEDDLE_WORKSPACE_ID"],
  default: undefined,
  description: "The workspace that the agent server is about; the default one when not set.",
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
      "Whether requests need a key. auto: as soon as others can reach the server, which another address than " +
      "loopback, a trusted proxy, a public URL or a gateway domain shows. published: none, because the port is " +
      "published on loopback only, or a gateway in front guards it.",
  }),
  workspaceId,
  authUrl: {
    env: ["HEDDLE_AUTH_URL"],
    default: undefined,
    description:
      "A Heddle platform that knows the keys of this agent server, which then keeps none: deployments ask there.",
    parse: parseUrl,
  } satisfies OptionSpec<string | undefined> as OptionSpec<string | undefined>,
  authKey: text<string | undefined>({
    env: ["HEDDLE_AUTH_KEY"],
    default: undefined,
    secret: true,
    description: "This server's own key at HEDDLE_AUTH_URL, of the workspace that it is about; any role will do.",
  }),
  authMaxAgeSecs: integer({
    env: ["HEDDLE_AUTH_MAX_AGE_SECS"],
    default: 60,
    min: 1,
    max: 3600,
    description: "How long keys are trusted while HEDDLE_AUTH_URL does not answer; a revocation there counts at once.",
  }),
  besideDeployments: flag({
    env: ["HEDDLE_BESIDE_DEPLOYMENTS"],
    default: false,
    description:
      "Whether deployments run as processes on this machine. A server that needs no key then requires one of their " +
      "system users, which it looks up for each new connection. heddle up and the control plane set it for the " +
      "servers that they start.",
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
