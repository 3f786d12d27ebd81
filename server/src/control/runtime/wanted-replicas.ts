import type { SourceConfig } from "../deployments/schema.ts";

/** What a deployment's load says, at one moment. */
export interface Load {
  /** Replicas that answer requests, all that there are to be. */
  replicas: number;
  /** Runs that could start, and runs that are executed, over all replicas; null where a server does not tell. */
  queue: { due: number; running: number; slots: number } | null;
  /** Processor time of all replicas in percent of one core; null where it is not known yet. */
  cpuPercent: number | null;
  /** Cores that a replica asks for. */
  cpu: number;
  /** Cores of the machine. */
  cores: number;
}

/** Where the hosted service's scaling aims at (contract control-plane §6.3). */
const DUE_PER_REPLICA = 10;
const CPU_TARGET = 0.75;
/** What is so near to the aim is left as it is. */
const TOLERANCE = 0.1;
/** Of the slots, that runs may take when there are fewer replicas. */
const SLOTS_TARGET = 0.75;

/** How many replicas fit the load; the larger of what the queue and what the processors say. */
export const wantedReplicas = (load: Load): number => Math.max(1, byQueue(load), byProcessors(load));

/**
 * Runs that wait while slots are free wait for their threads, and more replicas would not help them: only where all
 * slots are taken there are to be more.
 */
function byQueue({ replicas, queue }: Load): number {
  if (queue === null) return 1;
  const { due, running, slots } = queue;
  if (due > 0 && running >= slots * replicas) return replicas + Math.ceil(due / DUE_PER_REPLICA);
  return Math.min(replicas, Math.ceil(running / (slots * SLOTS_TARGET)));
}

/** Never more than the machine has cores for. */
function byProcessors({ replicas, cpuPercent, cpu, cores }: Load): number {
  if (cpuPercent === null) return replicas;
  const ratio = cpuPercent / 100 / (cpu * replicas) / CPU_TARGET;
  if (Math.abs(ratio - 1) <= TOLERANCE) return replicas;
  return Math.min(Math.ceil(replicas * ratio), Math.max(replicas, Math.floor(cores / cpu)));
}

type Scaled = { source_config: SourceConfig };

export const minScale = ({ source_config: config }: Scaled): number =>
  Math.max(1, config.resource_spec?.min_scale ?? 1);
export const maxScale = (of: Scaled): number => Math.max(minScale(of), of.source_config.resource_spec?.max_scale ?? 1);

/** How many replicas a revision is to have now. */
export const replicasOf = (of: Scaled & { scale: number | null }): number =>
  Math.min(maxScale(of), Math.max(minScale(of), of.scale ?? 1));
