/**
 * What builds and runs revisions. The worker decides, a driver does: each call may be made again after a crash of
 * whoever made it, and then finds what there is.
 */
import type { Secret, Source, SourceConfig } from "../deployments/schema.ts";
import type { BuildLog } from "../logs/log-writer.ts";

/** The revision cannot be built, and another try would end the same; the message is for its owner. */
export class BuildError extends Error {
  override name = "BuildError";
}

export interface SourceArchive {
  /** On this machine. */
  file: string;
  /** Whether links may be in it, as they are in repositories. They may lead nowhere but within it. */
  withLinks: boolean;
}

export interface BuildOrder {
  deploymentId: string;
  revisionId: string;
  source: Source;
  config: SourceConfig;
  /** Path of langgraph.json in the project; empty where an image is run. */
  configPath: string;
  /** The project, as gzip of tar; null where there is nothing to unpack. */
  archive: SourceArchive | null;
  /** The image, where one is run. */
  imageUri: string | null;
  /** The revision's environment: `image_pull_secrets` name those that hold credentials of registries. */
  secrets: Secret[];
}

export interface InstanceOrder {
  id: string;
  deploymentId: string;
  revisionId: string;
  /** Whose build. */
  artifactId: string;
  /** Path of langgraph.json in the project; empty where an image is run. */
  configPath: string;
  config: SourceConfig;
  port: number;
  /** What the platform and the deployment's owner have set; nothing of this process's own. */
  environment: Record<string, string>;
}

/** A process beyond its pid; of what runs elsewhere the pid is 0, and `started` names it. */
export interface InstanceProcess {
  pid: number;
  started: string;
}

export interface InstanceUsage {
  memory_bytes: number;
  /** Of one core, since the call before; null at the first. */
  cpu_percent: number | null;
}

export interface Driver {
  readonly kind: "process" | "container" | "kubernetes";
  /** What it can deploy. */
  readonly sources: readonly Source[];
  /** From the beginning, whatever an attempt before has left. Throws BuildError, or what can heal. */
  build(order: BuildOrder, log: BuildLog, signal: AbortSignal): Promise<void>;
  hasBuild(artifactId: string): boolean;
  deleteBuild(artifactId: string): Promise<void>;
  /** Builds that there are, by their ids. */
  listBuilds(): Promise<string[]>;
  start(order: InstanceOrder): Promise<InstanceProcess>;
  /** What a start that was cut short has left: its process, or the certainty that there will be none. */
  recover(instanceId: string): Promise<InstanceProcess | null>;
  lives(process: InstanceProcess): boolean;
  /** Asks it to end, and ends it after `graceMs`, with all that it has started. */
  stop(process: InstanceProcess, graceMs: number): Promise<void>;
  usage(process: InstanceProcess): Promise<InstanceUsage | null>;
  /** What it has printed since `offset`; `next` is where to go on. */
  readLog(instanceId: string, offset: number): Promise<{ text: string; next: number }>;
  /** Forgets an instance that has ended. */
  discard(instanceId: string): Promise<void>;
  /** Removes what it keeps for a deployment besides builds and instances, which are gone by then. */
  forget?(deploymentId: string): Promise<void>;
  /** Deployments that it keeps something for, by their ids. */
  listPlaces?(): Promise<string[]>;
  /** How processes of deployments are isolated. */
  readonly isolation?: { kind: "bubblewrap" | "user" | "none"; explanation: string };
  /** What there is of instances, alive or not, by their ids. */
  listInstances(): Promise<string[]>;
  /** Since when nobody can tell how instances of a build are, in milliseconds of `performance.now()`; null while one can. */
  unseenSince?(artifactId: string): number | null;
  /** Since when the engine that it drives has not answered, in ms since 1970; null while it does. */
  awaySince?(): number | null;
  /** Digests of a deployment's pushed images that may run again. */
  imageDigests?(deploymentId: string): Promise<string[]>;
  /** Lets go of what it holds; what it runs goes on. */
  close?(): void;
}
