/**
 * Keeps code of deployments, their builds included, away from the platform and from each other.
 *
 *     bubblewrap   own mounts (only what `visible-paths.ts` names), processes, IPC; as root also an own system user
 *     user         an own system user for each deployment; files of others are closed to it
 *     none         the platform's own user and everything that it may do
 *
 * None has capabilities or can gain any, but `none`. The network is this machine's in all of them.
 */
import type { DeploymentPlace } from "./deployment-places.ts";

export type IsolationKind = "bubblewrap" | "user" | "none";

/** A command that runs a deployment's code, and what it may reach. */
export interface ConfinedCommand {
  place: DeploymentPlace;
  command: readonly string[];
  /** Directories that it may write to. */
  writable: readonly string[];
  /** Directories and files that it may read, besides those of the system. */
  readable?: readonly string[];
  /** Directory that it has for its own temporary files. */
  temporary: string;
  /** Whether it ends when this process does, however that ends. */
  endsWithParent: boolean;
}

export interface Isolation {
  readonly kind: IsolationKind;
  /** Whether each deployment has a system user. */
  readonly hasUsers: boolean;
  /** Program and arguments. The environment of who spawns it is the command's own. */
  wrap(command: ConfinedCommand): string[];
  /** The path by which a confined command finds its temporary directory. */
  temporaryPath(temporary: string): string;
}

export const noIsolation: Isolation = {
  kind: "none",
  hasUsers: false,
  wrap: ({ command }) => [...command],
  temporaryPath: (temporary) => temporary,
};
