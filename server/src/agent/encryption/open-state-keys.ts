import type { DataKeys } from "../../../../host-kit/src/host-protocol.ts";
import type { StateCipher } from "../../../../host-kit/src/state-cipher.ts";
import { ConfigError } from "../../base/config/options.ts";
import type { Sql } from "../../base/db/connect.ts";
import type { Log } from "../../base/log.ts";
import type { GraphHosts } from "../hosts/graph-hosts.ts";
import type { Project } from "../project/read-project.ts";
import type { AgentSettings } from "../settings.ts";
import { AES_KEY, OLD_AES_KEYS, readAesKeys } from "./aes-keys.ts";
import { loadCustomHandlers } from "./custom-handlers.ts";
import type { KeyWrapper } from "./key-wrapper.ts";
import { StateKeys } from "./state-keys.ts";

type Python = Parameters<typeof loadCustomHandlers>[1];

/** A server's keys of stored state, from its settings, the project's variables and the project's own handlers. */
export interface ServerStateKeys {
  readonly cipher: StateCipher | undefined;
  start(project: Project, python: Python, sql: Sql): Promise<void>;
  /** Uses the handlers of a changed project from now on. */
  reload(project: Project, python: Python): Promise<void>;
  /** Hands the keys over, now and whenever they change. */
  sendTo(hosts: Pick<GraphHosts, "encryptWith">): void;
  stop(): void;
}

/** @throws ConfigError for keys that cannot be used */
export function openStateKeys(options: { settings: AgentSettings; project: Project; log: Log }): ServerStateKeys {
  const { settings, project, log } = options;
  const { env } = project;
  if (env[JSON_KEYS] ?? settings.aesJsonKeys) {
    throw new ConfigError(
      `${JSON_KEYS} is not supported: Heddle encrypts inputs, values and store items as a whole, and metadata and ` +
        "config stay readable. Remove the variable, and keep secrets out of metadata and config.",
    );
  }
  const aes = readAesKeys(settings.aesKey ?? env[AES_KEY], settings.oldAesKeys ?? env[OLD_AES_KEYS]);
  let custom: KeyWrapper | undefined;
  let onKeys: ((keys: DataKeys) => void) | undefined;
  const keys = new StateKeys({ log, aes, custom: () => custom, onKeys: (changed) => onKeys?.(changed) });
  return {
    get cipher() {
      return keys.cipher;
    },
    async start(current, python, sql) {
      custom = await loadCustomHandlers(current, python);
      await keys.start(sql);
    },
    async reload(changed, python) {
      custom = await loadCustomHandlers(changed, python);
    },
    sendTo(hosts) {
      onKeys = (changed) => hosts.encryptWith(changed);
      if (keys.keys) onKeys(keys.keys);
    },
    stop: () => keys.stop(),
  };
}

const JSON_KEYS = "LANGGRAPH_AES_JSON_KEYS";
