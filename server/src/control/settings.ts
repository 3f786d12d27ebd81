import { addressOptions } from "../identity/exposure.ts";
import { consoleUrlOptions } from "../base/config/console-url.ts";
import { choice, flag, integer, type Options, type OptionSpec, text } from "../base/config/options.ts";
import { processOptions } from "../base/config/process-options.ts";
import { embeddedPostgresOptions } from "../base/db/settings.ts";
import { clientIpOptions } from "../base/http/client-ip.ts";
import { bodyOptions } from "../base/http/body-gate.ts";
import { connectionOptions } from "../base/http/connection-limits.ts";
import { crossOriginOptions } from "../base/http/cross-origin.ts";
import { outboundOptions } from "../base/outbound/settings.ts";
import { buildOptions } from "./builds/settings.ts";
import { containerOptions } from "./drivers/container/settings.ts";
import { OWNER_PREFIX, parseOwnerKeys } from "./deployments/owner-labels.ts";
import { isolationOptions } from "./drivers/process/isolation/settings.ts";
import { gatewayOptions } from "./gateway/settings.ts";
import { kubernetesOptions } from "./kubernetes/settings.ts";
import { registryOptions } from "./registry/settings.ts";
import { gitOptions } from "./git/settings.ts";
import { runtimeOptions } from "./runtime/settings.ts";

/** Settings of the control plane. */
export const controlOptions = {
  errors: choice({
    env: ["HEDDLE_CONTROL_ERRORS"],
    default: "detail",
    of: ["text", "detail"],
    description: 'Format of error bodies for unknown paths: bare text, or {"detail": message}.',
  }),
  maxBodyBytes: integer({
    env: ["HEDDLE_CONTROL_MAX_BODY_BYTES"],
    default: 8 * 1024 * 1024,
    min: 1024,
    description:
      "Maximum size of an API request body, in bytes; a larger one gets 413. Its objects, lists, values and distinct " +
      "names may take twice as much memory when decoded. Uploads have a separate limit.",
  }),
  ...processOptions,
  ...embeddedPostgresOptions,
  installation: choice({
    env: ["HEDDLE_INSTALLATION"],
    default: "self_hosted",
    of: ["self_hosted", "cloud"],
    description: "Kind of installation: cloud rejects deployments of images from other registries (external_docker).",
  }),
  ...addressOptions,
  ownerLabels: {
    env: ["HEDDLE_DEPLOYMENT_LABELS"],
    default: [],
    parse: parseOwnerKeys,
    description:
      "Labels of containers and pods, and annotations of pods, that deployments may set in resource_spec, separated by " +
      "commas: keys such as prometheus.io/scrape, or prefixes that end in a slash, such as team.example/. Other " +
      `programs of the cluster or machine obey some of them. Default: only those under ${OWNER_PREFIX}, which are ` +
      "always allowed.",
  } as OptionSpec<readonly string[]>,
  returnSecrets: flag({
    env: ["HEDDLE_CONTROL_RETURN_SECRET_VALUES", "CONTROL_PLANE_RETURN_SECRET_VALUES"],
    default: false,
    description: "Return the values of secrets in responses instead of a mask, for clients that compare them.",
  }),
  revisionLeaseSeconds: integer({
    env: ["HEDDLE_REVISION_LEASE_SECONDS"],
    default: 20,
    min: 2,
    max: 600,
    description: "Lease on a revision, in seconds: without a renewal, another process takes over.",
  }),
  controlLeaseMs: integer({
    env: ["HEDDLE_CONTROL_LEASE_MS"],
    default: 3000,
    min: 600,
    max: 60_000,
    description:
      "Lease of the leading control plane, in milliseconds. Another one leads after this time without a renewal, and " +
      "at once when the leader stops or has died on the same machine.",
  }),
  controlInternalUrl: text<string | undefined>({
    env: ["HEDDLE_CONTROL_INTERNAL_URL"],
    default: undefined,
    description:
      "URL at which deployments reach the control plane to verify keys. Set it to an address of all control planes " +
      "where there are several. Default: the address of the one that starts the instance.",
  }),
  stopInstances: choice({
    env: ["HEDDLE_STOP_INSTANCES"],
    default: "auto",
    of: ["auto", "always", "never"],
    description:
      "Whether a control plane that stops in an orderly way stops the instances of deployments. auto: unless a gateway " +
      "or another control plane on this machine serves them. The next control plane adopts those that are left.",
  }),
  controlFaultPoints: text<string | undefined>({
    env: ["HEDDLE_FAULT_POINTS"],
    default: undefined,
    description: "For crash tests: name:n kills this process when it passes the named point for the nth time.",
  }),
  ...clientIpOptions,
  ...consoleUrlOptions,
  ...bodyOptions,
  ...connectionOptions,
  ...crossOriginOptions,
  ...buildOptions,
  ...isolationOptions,
  ...containerOptions,
  ...kubernetesOptions,
  ...registryOptions,
  ...gatewayOptions,
  ...gitOptions,
  ...outboundOptions,
  ...runtimeOptions,
};

export type ControlSettings = Options<typeof controlOptions>;
