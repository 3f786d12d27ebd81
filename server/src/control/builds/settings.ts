import { integer, text } from "../../base/config/options.ts";

const MB = 1024 * 1024;

/** Limits of uploads and builds. */
export const buildOptions = {
  uploadMaxBytes: integer({
    env: ["HEDDLE_UPLOAD_MAX_BYTES"],
    default: 200 * MB,
    min: 1024,
    description: "Maximum size of an uploaded project archive, in bytes.",
  }),
  uploadSeconds: integer({
    env: ["HEDDLE_UPLOAD_SECONDS"],
    default: 900,
    min: 10,
    max: 86_400,
    description: "Validity of an upload URL, in seconds.",
  }),
  unpackMaxMb: integer({
    env: ["HEDDLE_UNPACK_MAX_MB"],
    default: 2048,
    min: 1,
    description: "Maximum unpacked size of an archive, in MiB; a larger one fails the build.",
  }),
  unpackMaxEntries: integer({
    env: ["HEDDLE_UNPACK_MAX_ENTRIES"],
    default: 100_000,
    min: 1,
    description: "Maximum number of files and directories in an archive; more fail the build.",
  }),
  buildConcurrency: integer({
    env: ["HEDDLE_BUILD_CONCURRENCY"],
    default: 1,
    min: 1,
    max: 64,
    description: "Maximum number of concurrent builds.",
  }),
  buildSeconds: integer({
    env: ["HEDDLE_BUILD_SECONDS"],
    default: 1800,
    min: 1,
    description: "Total time limit of a build's commands, in seconds.",
  }),
  buildLogMb: integer({
    env: ["HEDDLE_BUILD_LOG_MB"],
    default: 16,
    min: 1,
    max: 1024,
    description: "Maximum output of a build, in MiB; a build that prints more fails.",
  }),
  buildEnvironment: text({
    env: ["HEDDLE_BUILD_ENV"],
    default:
      "HTTP_PROXY,HTTPS_PROXY,NO_PROXY,http_proxy,https_proxy,no_proxy,NODE_EXTRA_CA_CERTS,npm_config_registry," +
      "SSL_CERT_FILE,PIP_CERT,PIP_INDEX_URL,PIP_EXTRA_INDEX_URL,UV_DEFAULT_INDEX,UV_INDEX,UV_NATIVE_TLS",
    description: "Names of environment variables that the control plane passes on to builds, separated by commas.",
  }),
};
