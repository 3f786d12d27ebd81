import { type AesKeys, AES_KEY, OLD_AES_KEYS, readAesKeys } from "../agent/encryption/aes-keys.ts";
import { loadCustomHandlers } from "../agent/encryption/custom-handlers.ts";
import type { KeyWrapper } from "../agent/encryption/key-wrapper.ts";
import { OwnCodeApi } from "../agent/project/own-code-api.ts";
import { type Project, readProject } from "../agent/project/read-project.ts";
import { PythonCode } from "../agent/python-code/python-code.ts";
import { agentOptions, type AgentSettings } from "../agent/settings.ts";
import { readOptions } from "../base/config/options.ts";
import { createLog } from "../base/log.ts";

/** Keys that a command has, in a server's order of precedence. */
export interface CommandKeys {
  aes: AesKeys;
  /** The handlers of the project whose langgraph.json was given. */
  custom: KeyWrapper | undefined;
  /** Encrypts data keys from now on. */
  writer: KeyWrapper | undefined;
  all: KeyWrapper[];
}

/**
 * Works with the keys of the environment and, where a langgraph.json is given, of its variables and its encryption
 * handlers, which may run in their own process until `work` is done.
 */
export async function withCommandKeys<T>(
  env: Record<string, string | undefined>,
  config: string | undefined,
  work: (keys: CommandKeys) => Promise<T>,
): Promise<T> {
  const settings = readOptions(agentOptions, env);
  const project = config === undefined ? undefined : await readProject(config, env as NodeJS.ProcessEnv);
  const variables = project?.env ?? {};
  const aes = readAesKeys(settings.aesKey ?? variables[AES_KEY], settings.oldAesKeys ?? variables[OLD_AES_KEYS]);
  const run = (custom: KeyWrapper | undefined) =>
    work({ aes, custom, writer: custom ?? aes.newest, all: [...(custom ? [custom] : []), ...aes.all] });
  return project?.config.encryption?.path === undefined ? run(undefined) : withHandlers(project, settings, run);
}

/** Address on which nothing listens: the handlers have no server whose API they could call. */
const NO_SERVER = "http://127.0.0.1:9";

async function withHandlers<T>(
  project: Project,
  settings: AgentSettings,
  work: (custom: KeyWrapper | undefined) => Promise<T>,
): Promise<T> {
  const log = createLog("warn");
  const ownCodeApi = new OwnCodeApi(NO_SERVER, settings);
  const python = new PythonCode({ log, configured: settings.python, port: 0, ownCodeApi });
  const { http, ...config } = project.config;
  try {
    // the rest of the project's code has nothing to do here
    await python.load({
      ...project,
      config: { ...config, auth: undefined, store: undefined, http: { ...http, app: undefined } },
    });
    return await work(await loadCustomHandlers(project, python));
  } finally {
    await python.stop();
  }
}
