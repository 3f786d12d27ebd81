import { integer, text } from "../../base/config/options.ts";

/** Settings of the agent servers of deployments. */
export const runtimeOptions = {
  deployReadySeconds: integer({
    env: ["HEDDLE_DEPLOY_READY_SECONDS"],
    default: 240,
    min: 1,
    max: 3600,
    description:
      "How long a revision may take until it is healthy, in seconds. Below 300, which is when clients give up.",
  }),
  deployUnseenSeconds: integer({
    env: ["HEDDLE_DEPLOY_UNSEEN_SECONDS"],
    default: 60,
    min: 1,
    max: 3600,
    description: "How long a container engine may be silent until a revision that is being deployed is UNKNOWN.",
  }),
  minHealthyMs: integer({
    env: ["HEDDLE_MIN_HEALTHY_MS"],
    default: 500,
    max: 600_000,
    description: "How long an instance has to be healthy without a break before requests go to it, in ms.",
  }),
  restartMs: integer({
    env: ["HEDDLE_RESTART_MS"],
    default: 500,
    min: 10,
    description: "Pause before a crashed instance is started again, in ms. Each is twice the one before, at most 60 s.",
  }),
  scaleSeconds: integer({
    env: ["HEDDLE_SCALE_SECONDS"],
    default: 5,
    max: 3600,
    description:
      "How often the load of deployments whose max_scale is above their min_scale is looked at, in seconds. 0: never.",
  }),
  scaleUpSeconds: integer({
    env: ["HEDDLE_SCALE_UP_SECONDS"],
    default: 10,
    max: 3600,
    description: "How long more replicas have to be wanted before they are started, in seconds.",
  }),
  scaleDownSeconds: integer({
    env: ["HEDDLE_SCALE_DOWN_SECONDS"],
    default: 300,
    max: 86_400,
    description: "How long fewer replicas have to do before some are ended, in seconds.",
  }),
  instanceLogMb: integer({
    env: ["HEDDLE_INSTANCE_LOG_MB"],
    default: 10,
    min: 1,
    description: "Size at which the log file of an instance is emptied, in MiB. Its lines are in the database by then.",
  }),
  logDays: integer({
    env: ["HEDDLE_DEPLOYMENT_LOG_DAYS"],
    default: 30,
    min: 1,
    description: "How long lines of builds and deployments are kept, in days.",
  }),
  keptBuilds: integer({
    env: ["HEDDLE_KEPT_BUILDS"],
    default: 5,
    min: 1,
    description: "Builds of a deployment that are kept for going back to, besides the one that serves.",
  }),
  instanceMemoryMb: integer({
    env: ["HEDDLE_INSTANCE_MEMORY_MB"],
    default: 1024,
    min: 128,
    description: "Memory of a graph host of a deployment whose resource_spec names none, in MiB.",
  }),
  deploymentDatabase: text<string | undefined>({
    env: ["HEDDLE_DEPLOYMENT_DATABASE_URI"],
    default: undefined,
    secret: true,
    description: "Postgres in which deployments get their databases, as a user who may create them. Default: this one.",
  }),
  deploymentConnections: integer({
    env: ["HEDDLE_DEPLOYMENT_CONNECTIONS"],
    default: 10,
    max: 1000,
    description:
      "Connections to Postgres that a deployment's own code may open for each of its agent servers, beside those of the " +
      "server itself (17, and 4 for each graph host and three more). Its role is limited to the sum over its agent servers.",
  }),
  platformTraceUrl: text<string | undefined>({
    env: ["HEDDLE_CONTROL_TRACE_URL"],
    default: undefined,
    description: "Trace platform that deployments send the traces of their runs to. heddle up has its own.",
  }),
  platformTraceKey: text<string | undefined>({
    env: ["HEDDLE_CONTROL_TRACE_KEY"],
    default: undefined,
    secret: true,
    description: "Key for that platform, with the permission to send traces. Deployments get it.",
  }),
};
