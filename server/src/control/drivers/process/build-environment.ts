import { dirname, join } from "node:path";
import { homedir } from "node:os";

import { passedVariables } from "../../builds/passed-variables.ts";
import type { DeploymentAccount } from "./isolation/deployment-accounts.ts";
import type { Isolation } from "./isolation/isolation.ts";

/** Variables that name files read by package managers. */
const FILES = [
  "NODE_EXTRA_CA_CERTS",
  "npm_config_userconfig",
  "npm_config_cafile",
  "SSL_CERT_FILE",
  "PIP_CERT",
  "PIP_CONFIG_FILE",
  "UV_CONFIG_FILE",
];

export interface BuildEnvironment {
  variables: Record<string, string>;
  /** Files named by the variables. */
  readable: string[];
}

/**
 * Creates the environment of a build's commands: from this process only what is needed to find programs and packages, a
 * separate home, and a package cache shared by the deployment's builds.
 * @param passedOn comma-separated names of this process's variables that builds receive
 * @param temporary path of the temporary directory as the commands see it
 */
export function buildEnvironment(
  passedOn: string,
  account: DeploymentAccount,
  isolation: Isolation,
  temporary: string,
): BuildEnvironment {
  // oxlint-disable-next-line node/no-process-env -- which of its names are passed on is a setting
  const own = process.env;
  const named = passedVariables(passedOn);
  const userSettings = own["npm_config_userconfig"] ?? own["NPM_CONFIG_USERCONFIG"] ?? join(homedir(), ".npmrc");
  const variables: Record<string, string> = {
    // the user's own file may hold credentials: isolated builds get it only when the operator names it
    npm_config_userconfig: isolation.kind === "none" ? userSettings : join(account.directory, "npmrc"),
    ...named,
    // our own Node.js, and the npm beside it, before any other
    PATH: [dirname(process.execPath), own["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"].join(":"),
    HOME: join(temporary, "home"),
    TMPDIR: temporary,
    LANG: "C.UTF-8",
    CI: "1",
    npm_config_cache: join(account.cache, "npm"),
    npm_config_update_notifier: "false",
    YARN_CACHE_FOLDER: join(account.cache, "yarn"),
    PNPM_HOME: join(account.cache, "pnpm"),
    PIP_CACHE_DIR: join(account.cache, "pip"),
    UV_CACHE_DIR: join(account.cache, "uv"),
    // a Python that uv downloads would be outside the build
    UV_PYTHON_DOWNLOADS: "never",
  };
  return { variables, readable: FILES.flatMap((name) => variables[name] ?? []) };
}
