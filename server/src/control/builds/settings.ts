import { integer, text } from "../../base/config/options.ts";

const MB = 1024 * 1024;

/** Limits of uploads and builds. */
export const buildOptions = {
  uploadMaxBytes: integer({
    env: ["HEDDLE_UPLOAD_MAX_BYTES"],
    default: 200 * MB,
    min: 1024,
    description: "Largest archive of a project that can be uploaded, in bytes.",
  }),
  uploadSeconds: integer({
    env: ["HEDDLE_UPLOAD_SECONDS"],
    default: 900,
    min: 10,
    max: 86_400,
    description: "How long an upload address is good for, in seconds.",
  }),
  unpackMaxMb: integer({
    env: ["HEDDLE_UNPACK_MAX_MB"],
    default: 2048,
    min: 1,
    description: "Bytes that an archive may unpack to, in MiB; more fails the build.",
  }),
  unpackMaxEntries: integer({
    env: ["HEDDLE_UNPACK_MAX_ENTRIES"],
    default: 100_000,
    min: 1,
    description: "Files and directories that an archive may hold; more fails the build.",
  }),
  buildConcurrency: integer({
    env: ["HEDDLE_BUILD_CONCURRENCY"],
    default: 1,
    min: 1,
    max: 64,
    description: "Builds at the same time.",
  }),
  buildSeconds: integer({
    env: ["HEDDLE_BUILD_SECONDS"],
    default: 1800,
    min: 1,
    description: "How long the commands of a build may take in all, in seconds.",
  }),
  buildLogMb: integer({
    env: ["HEDDLE_BUILD_LOG_MB"],
    default: 16,
    min: 1,
    max: 1024,
    description: "What a build may print, in MiB; one that prints more has failed.",
  }),
  buildEnvironment: text({
    env: ["HEDDLE_BUILD_ENV"],
    default: "HTTP_PROXY,HTTPS_PROXY,NO_PROXY,http_proxy,https_proxy,no_proxy,NODE_EXTRA_CA_CERTS,npm_config_registry",
    description: "Names of variables that builds get of this process's environment, with commas between.",
  }),
};
