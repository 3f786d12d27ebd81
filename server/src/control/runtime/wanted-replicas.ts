import type { SourceConfig } from "../deployments/schema.ts";

/** Load of a deployment at one moment. */
export interface Load {
  /** Replicas that answer requests. */
  replicas: number;
  /** Runs that could start, and executing runs, over all replicas; null when a server does not report them. */
  queue: { due: number; running: number; slots: number } | null;
  /** CPU time of all replicas in percent of one core; null when not known yet. */
  cpuPercent: number | null;
  /** Cores requested per replica. */
  cpu: number;
  /** Cores of the machine. */
  cores: number;
}

/** Scaling targets of the hosted service. */
const DUE_PER_REPLICA = 10;
const CPU_TARGET = 0.75;
/** Deviation from the target that causes no scaling. */
const TOLERANCE = 0.1;
/** Share of the slots that runs may take after scaling down. */
const SLOTS_TARGET = 0.75;

/** Returns the replicas that fit the load: the larger of the demands by queue and by processor. */
export const wantedReplicas = (load: Load): number => Math.max(1, byQueue(load), byProcessors(load));

/**
 * Computes the replicas by queue. Runs that wait while slots are free wait for their threads, and more replicas would
 * not help: it scales up only when all slots are taken.
 */
function byQueue({ replicas, queue }: Load): number {
  if (queue === null) return 1;
  const { due, running, slots } = queue;
  if (due > 0 && running >= slots * replicas) return replicas + Math.ceil(due / DUE_PER_REPLICA);
  return Math.min(replicas, Math.ceil(running / (slots * SLOTS_TARGET)));
}

/** Computes the replicas by CPU time, never adding more than the machine has cores for. */
function byProcessors({ replicas, cpuPercent, cpu, cores }: Load): number {
  if (cpuPercent === null) return replicas;
  const ratio = cpuPercent / 100 / (cpu * replicas) / CPU_TARGET;
  if (Math.abs(ratio - 1) <= TOLERANCE) return replicas;
  return Math.min(Math.ceil(replicas * ratio), Math.max(replicas, Math.floor(cores / cpu)));
}

type Scaled = { source_config: SourceConfig };

export const minScale = ({ source_config: config }: Scaled): number =>
  Math.max(1, config.resource_spec?.min_scale ?? 1);
export const maxScale = (scaled: Scaled): number =>
  Math.max(minScale(scaled), scaled.source_config.resource_spec?.max_scale ?? 1);

/** Returns the current target of a revision's replicas. */
export const replicaTarget = (scaled: Scaled & { scale: number | null }): number =>
  Math.min(maxScale(scaled), Math.max(minScale(scaled), scaled.scale ?? 1));
