import { ConfigError, integer, type OptionSpec } from "../../base/config/options.ts";

/** The way to deployments. */
export const gatewayOptions = {
  gatewayDomain: {
    env: ["HEDDLE_GATEWAY_DOMAIN"],
    default: undefined,
    description:
      "Domain below which each deployment has a host of its own, <deployment>.<domain>: agents.example. Its names have " +
      "to lead here (*.agents.example). Addresses that are given out are those, with scheme and port of " +
      "HEDDLE_CONTROL_PUBLIC_URL. Without it deployments are at /d/<deployment>, and there they are in any case.",
    parse: readDomain,
  } satisfies OptionSpec<string | undefined> as OptionSpec<string | undefined>,
  gatewayHoldSeconds: integer({
    env: ["HEDDLE_GATEWAY_HOLD_SECONDS"],
    default: 10,
    max: 300,
    description: "How long a request waits for an instance that is starting again, in seconds; then it gets 503.",
  }),
  drainSeconds: integer({
    env: ["HEDDLE_DRAIN_SECONDS"],
    default: 180,
    max: 86_400,
    description: "How long what is under way on a replaced revision may go on, streams and runs, in seconds.",
  }),
};

/** Lower case, without dots around it. */
function readDomain(text: string): string {
  const domain = text
    .trim()
    .toLowerCase()
    .replace(/^\*?\./, "")
    .replace(/\.$/, "");
  const label = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?";
  if (domain.length <= 180 && new RegExp(`^${label}(\\.${label})*$`).test(domain)) return domain;
  throw new ConfigError(`must be a domain such as agents.example, not "${text}"`);
}
