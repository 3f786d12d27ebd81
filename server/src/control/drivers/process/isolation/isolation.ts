/**
 * Isolates code of deployments, including their builds, from the platform and from each other.
 *
 *     bubblewrap   separate mounts (only the paths of `visible-paths.ts`), PIDs and IPC; as root also a system user
 *     user         a system user per deployment; file modes deny it access to files of others
 *     none         the platform's own user, with all of its rights
 *
 * Except under `none`, the code has no capabilities and cannot gain any. All of them use this machine's network.
 */
import type { DeploymentAccount } from "./deployment-accounts.ts";

export type IsolationKind = "bubblewrap" | "user" | "none";

/** A command that runs a deployment's code, with the paths it may access. */
export interface ConfinedCommand {
  account: DeploymentAccount;
  command: readonly string[];
  /** Directories that it may write to. */
  writable: readonly string[];
  /** Directories and files that it may read, in addition to those of the system. */
  readable?: readonly string[];
  /** Directory for its temporary files. */
  temporary: string;
  /** Whether it is killed when this process ends in any way. */
  endsWithParent: boolean;
}

export interface Isolation {
  readonly kind: IsolationKind;
  /** Whether each deployment has a system user. */
  readonly hasUsers: boolean;
  /** Returns program and arguments. The command inherits the environment of the spawning process. */
  wrap(command: ConfinedCommand): string[];
  /** Returns the path at which a confined command sees its temporary directory. */
  temporaryPath(temporary: string): string;
}

export const noIsolation: Isolation = {
  kind: "none",
  hasUsers: false,
  wrap: ({ command }) => [...command],
  temporaryPath: (temporary) => temporary,
};
