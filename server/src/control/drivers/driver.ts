/**
 * Builds and runs revisions. The worker decides, a driver executes: each call may be repeated after a crash of the
 * caller, and then finds the existing state.
 */
import type { Secret, Source, SourceConfig } from "../deployments/schema.ts";
import type { BuildLog } from "../logs/log-writer.ts";

export interface SourceArchive {
  /** Path on this machine. */
  file: string;
  /** Whether it may contain links, as repositories do. They may point only into the archive. */
  withLinks: boolean;
}

export interface BuildParams {
  deploymentId: string;
  revisionId: string;
  /** Number of the attempt at the revision. A build of a later attempt may begin while this one does not know of it. */
  attempt: number;
  source: Source;
  config: SourceConfig;
  /** Path of langgraph.json in the project; empty for an image. */
  configPath: string;
  /** The project as tar.gz; null when there is nothing to unpack. */
  archive: SourceArchive | null;
  /** Image to run, if any. */
  imageUri: string | null;
  /** The revision's environment. `image_pull_secrets` names the entries that hold registry credentials. */
  secrets: Secret[];
}

export interface InstanceParams {
  id: string;
  deploymentId: string;
  revisionId: string;
  /** Id of the build to run. */
  artifactId: string;
  /** Path of langgraph.json in the project; empty for an image. */
  configPath: string;
  config: SourceConfig;
  port: number;
  /** Variables set by the platform and the deployment's owner; none of this process's own. */
  environment: Record<string, string>;
}

/** Identity of a process beyond its pid. For remote instances the pid is 0, and `started` identifies them. */
export interface InstanceProcess {
  pid: number;
  started: string;
}

export interface InstanceUsage {
  memory_bytes: number;
  /** Percent of one core since the previous call; null at the first. */
  cpu_percent: number | null;
}

export type LimitName = "memory_limit_mb" | "cpu_limit";

export interface Driver {
  readonly kind: "process" | "container";
  /** Sources that it can deploy. */
  readonly sources: readonly Source[];
  /** Builds from scratch, whatever an earlier attempt has left. Throws BuildError, or an error that may be retried. */
  build(params: BuildParams, log: BuildLog, signal: AbortSignal): Promise<void>;
  hasBuild(artifactId: string): boolean;
  deleteBuild(artifactId: string): Promise<void>;
  /** Ids of existing builds. */
  listBuilds(): Promise<string[]>;
  start(params: InstanceParams): Promise<InstanceProcess>;
  /** Recovers an interrupted start: returns its process, or null when there is none and never will be. */
  recover(instanceId: string): Promise<InstanceProcess | null>;
  isAlive(process: InstanceProcess): boolean;
  /** Limits of resource_spec that instances of a build cannot exceed. */
  enforcedLimits(artifactId: string): readonly LimitName[];
  /**
   * Requests shutdown, and kills the instance with all of its processes after `graceMs`, unless `mayKill` resolves to
   * false then.
   */
  stop(process: InstanceProcess, graceMs: number, mayKill?: () => Promise<boolean>): Promise<void>;
  usage(process: InstanceProcess): Promise<InstanceUsage | null>;
  /**
   * Reads output from `offset` on; `next` is the offset to continue from. Text without progress is the driver's own, and
   * is returned once.
   */
  readLog(instanceId: string, offset: number): Promise<{ text: string; next: number }>;
  /** Removes an ended instance. */
  discard(instanceId: string): Promise<void>;
  /** Removes a deployment's remaining state. Its builds and instances are gone by then. */
  forget?(deploymentId: string): Promise<void>;
  /** Ids of deployments with such state. */
  listDeployments?(): Promise<string[]>;
  /** Isolation of deployments' processes. */
  readonly isolation?: { kind: "bubblewrap" | "user" | "none"; explanation: string };
  /** Ids of known instances, alive or not. */
  listInstances(): Promise<string[]>;
  /**
   * Time since which the instances of a build cannot be observed, in milliseconds of `performance.now()`; null while
   * they can.
   */
  unseenSince?(artifactId: string): number | null;
  /** Time since which the engine has not answered, in ms since 1970; null while it does. */
  awaySince?(): number | null;
  /** Digests of a deployment's pushed images that may run again. */
  imageDigests?(deploymentId: string): Promise<string[]>;
  /** Releases its resources; instances keep running. */
  close?(): void;
}
