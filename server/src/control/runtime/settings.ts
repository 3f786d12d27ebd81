import { integer, text } from "../../base/config/options.ts";

/** Settings of the agent servers of deployments. */
export const runtimeOptions = {
  deployReadySeconds: integer({
    env: ["HEDDLE_DEPLOY_READY_SECONDS"],
    default: 240,
    min: 1,
    max: 3600,
    description:
      "How long a revision may take to become healthy, in seconds. Keep it below 300, after which clients give up.",
  }),
  deployUnseenSeconds: integer({
    env: ["HEDDLE_DEPLOY_UNSEEN_SECONDS"],
    default: 60,
    min: 1,
    max: 3600,
    description:
      "How long the container engine or the cluster may be unreachable before a revision that is being deployed " +
      "becomes UNKNOWN.",
  }),
  minHealthyMs: integer({
    env: ["HEDDLE_MIN_HEALTHY_MS"],
    default: 500,
    max: 600_000,
    description: "How long an instance must be healthy without interruption before it receives requests, in ms.",
  }),
  restartMs: integer({
    env: ["HEDDLE_RESTART_MS"],
    default: 500,
    min: 10,
    description: "Delay before a crashed instance is restarted, in ms. It doubles with each crash, up to 60 s.",
  }),
  scaleSeconds: integer({
    env: ["HEDDLE_SCALE_SECONDS"],
    default: 5,
    max: 3600,
    description:
      "How often the load of deployments whose max_scale is above their min_scale is measured, in seconds. 0: " +
      "never.",
  }),
  scaleUpSeconds: integer({
    env: ["HEDDLE_SCALE_UP_SECONDS"],
    default: 10,
    max: 3600,
    description: "How long the load must call for more replicas before they are started, in seconds.",
  }),
  scaleDownSeconds: integer({
    env: ["HEDDLE_SCALE_DOWN_SECONDS"],
    default: 300,
    max: 86_400,
    description: "How long the load must call for fewer replicas before some are stopped, in seconds.",
  }),
  instanceLogMb: integer({
    env: ["HEDDLE_INSTANCE_LOG_MB"],
    default: 10,
    min: 1,
    description:
      "Size at which the log file of an instance is truncated, in MiB, after its lines were stored in the database.",
  }),
  logDays: integer({
    env: ["HEDDLE_DEPLOYMENT_LOG_DAYS"],
    default: 30,
    min: 1,
    description: "Retention of log lines of builds and deployments, in days.",
  }),
  keptBuilds: integer({
    env: ["HEDDLE_KEPT_BUILDS"],
    default: 5,
    min: 1,
    description: "Number of builds of a deployment kept for rollbacks, besides the active one.",
  }),
  instanceMemoryMb: integer({
    env: ["HEDDLE_INSTANCE_MEMORY_MB"],
    default: 1024,
    min: 128,
    description: "Memory limit of a deployment's graph host if its resource_spec sets none, in MiB.",
  }),
  deploymentDatabase: text<string | undefined>({
    env: ["HEDDLE_DEPLOYMENT_DATABASE_URI"],
    default: undefined,
    secret: true,
    description:
      "URI of the Postgres for the databases of deployments, with a role that may create databases. Default: the " +
      "control plane's own Postgres.",
  }),
  deploymentConnections: integer({
    env: ["HEDDLE_DEPLOYMENT_CONNECTIONS"],
    default: 10,
    max: 1000,
    description:
      "Connections to Postgres that a deployment's own code may open per agent server, in addition to those of " +
      "the server itself (17, and 4 for each graph host and three more). The deployment's role is limited to " +
      "the sum over its agent servers.",
  }),
  platformTraceUrl: text<string | undefined>({
    env: ["HEDDLE_CONTROL_TRACE_URL"],
    default: undefined,
    description: "URL of the trace platform that receives the traces of deployments' runs. heddle up runs its own.",
  }),
  platformTraceKey: text<string | undefined>({
    env: ["HEDDLE_CONTROL_TRACE_KEY"],
    default: undefined,
    secret: true,
    description: "API key for that platform, with the permission to send traces. It is passed to deployments.",
  }),
};
