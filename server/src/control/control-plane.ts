/** Start and stop of the control plane: database, driver, adopted instances, background work. */
import { mkdirSync, realpathSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";

import { ConfigError } from "../base/config/options.ts";
import { connect, type DatabaseAddress } from "../base/db/connect.ts";
import { migrateDatabase } from "../base/db/migrate.ts";
import { createFaultPoint } from "../base/fault-point.ts";
import type { Log } from "../base/log.ts";
import { createMetrics } from "../base/metrics.ts";
import { createOutbound } from "../base/outbound/outbound.ts";
import { readPolicy } from "../base/outbound/policy.ts";
import { openSecrets, type SecretsOptions } from "../base/secrets/secrets.ts";
import { Started } from "../base/started.ts";
import { startTelemetry } from "../base/telemetry/telemetry.ts";
import { isLoopback } from "../identity/exposure.ts";
import { measureBuilds } from "./builds/build-metrics.ts";
import { ControlChanges } from "./changes/control-changes.ts";
import { ClusterImages } from "./cluster-images/cluster-images.ts";
import type { ControlDeps } from "./deps.ts";
import type { Driver } from "./drivers/driver.ts";
import { openDriver } from "./drivers/open-driver.ts";
import type { CgroupSystem } from "./drivers/process/cgroups.ts";
import { GitSource } from "./git/git-source.ts";
import { RouteFollower } from "./gateway/route-follower.ts";
import { RouteTable } from "./gateway/route-table.ts";
import { directoryId, shareDirectory } from "./hold-directory.ts";
import { Clusters } from "./kubernetes/clusters.ts";
import { Leadership } from "./leadership/leadership.ts";
import { selectInstallation } from "./leadership/sql.ts";
import { LogWriter } from "./logs/log-writer.ts";
import { PushWatcher } from "./pushes/push-watcher.ts";
import { ImageStore } from "./registry/image-store.ts";
import { openPushTokens } from "./registry/push-token.ts";
import type { WorkDeps } from "./revisions/work-deps.ts";
import { Worker } from "./revisions/worker.ts";
import { DeploymentDatabases } from "./runtime/deployment-database.ts";
import { Reaper } from "./runtime/reaper.ts";
import { Scaler } from "./runtime/scaler.ts";
import { configuredTraces, ownTraces, type Traces } from "./runtime/traces.ts";
import { Supervisor } from "./runtime/supervisor.ts";
import type { ControlSettings } from "./settings.ts";
import { measureLostLeases, registerControlMetrics } from "./system/control-metrics.ts";
import { controlHealth } from "./system/health.ts";
import { openUploadSigner } from "./uploads/sign-upload.ts";

export interface ControlPlaneOptions {
  settings: ControlSettings & SecretsOptions["settings"];
  log: Log;
  database: DatabaseAddress;
  dataDir: string;
  /** URL at which this server listens. */
  internalUrl: string;
  /** Whether requests need a key; deployments then verify callers' keys with this server. */
  keysNeeded: boolean;
  /** Path of bin/heddle.js, which starts agent servers. */
  launcher: string;
  /** Destination of the traces of deployments' runs. */
  traces?: Promise<{ url: string; key: string } | null> | undefined;
  /** Where control groups are; those of this machine by default. */
  cgroups?: CgroupSystem | undefined;
}

/** Longer than any pause between two statements of a transaction on a busy machine. */
const LEAST_IDLE_TRANSACTION_MS = 5_000;

export interface ControlPlane {
  deps: ControlDeps;
  stop(): Promise<void>;
}

export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const started = new Started();
  return started.orStop(async () => {
    const stores = await openStores(options, started);
    const parts = await buildWork(options, stores, started);
    await lead(options, stores, parts, started);
    return { deps: parts.deps, stop: () => started.stop() };
  });
}

type Stores = Awaited<ReturnType<typeof openStores>>;
type Parts = Awaited<ReturnType<typeof buildWork>>;

/** Opens what outlasts this process: the databases, the data directory, and the driver of builds and instances. */
async function openStores(options: ControlPlaneOptions, started: Started) {
  const { settings, log, database, dataDir, keysNeeded, launcher, cgroups } = options;
  mkdirSync(join(dataDir, "control"), { recursive: true, mode: 0o700 });
  const directory = realpathSync(join(dataDir, "control"));
  // a frozen leader must not keep its successor from the rows that it has locked
  const idleTransactionMs = Math.max(LEAST_IDLE_TRANSACTION_MS, settings.controlLeaseMs);
  const sql = connect(database, { max: settings.databasePool, name: "heddle control", idleTransactionMs });
  started.add(() => sql.end({ timeout: 2 }));
  await migrateDatabase(database);
  const changes = new ControlChanges(database, log);
  started.add(() => changes.stop());
  const installation = await selectInstallation(sql);
  started.add(await shareDirectory(directory, installation, log));
  const secrets = await openSecrets({ sql, log, dataDir, settings });
  const address =
    settings.deploymentDatabase === undefined ? database : { uri: settings.deploymentDatabase, socket: null };
  const ownConnections = settings.deploymentConnections;
  const databases = new DeploymentDatabases({ sql, secrets, address, keysNeeded, ownConnections, log });
  started.add(() => databases.close());
  await databases.secure();
  const images = new ImageStore(join(directory, "registry"), settings.registryBlobMb * 1024 * 1024);
  const outbound = createOutbound(readPolicy(settings.outboundAllow, !keysNeeded));
  started.add(() => outbound.close());
  const place = `${hostname()}:${directory}`;
  const driver = await openDriver({ directory, launcher, place, log, images, outbound, settings, cgroups });
  started.add(async () => driver.close?.());
  if (lacksTraceKey(settings, driver)) {
    log.warn(
      "HEDDLE_CONTROL_TRACE_URL names a trace platform on this machine and HEDDLE_CONTROL_TRACE_KEY is not set. " +
        "Deployments run as separate system users, which need a key for it: it will reject their traces. Set the key.",
    );
  }
  return { directory, place, sql, changes, installation, secrets, databases, images, outbound, driver };
}

/** Builds the parts that work on revisions and instances, and those that answer the API. None of them acts yet. */
async function buildWork(options: ControlPlaneOptions, stores: Stores, started: Started) {
  const { settings, log, database, dataDir, internalUrl, keysNeeded } = options;
  const { directory, sql, changes, secrets, outbound, driver } = stores;
  const metrics = createMetrics();
  const telemetry = startTelemetry(settings, log, "control");
  started.add(async () => telemetry?.stop());
  const { controlLeaseMs: leaseMs } = settings;
  const leadership = new Leadership({ database, log, leaseMs, directory: directoryId(directory) });
  registerControlMetrics(metrics.registry, { sql, log, leads: () => leadership.leads });
  const git = new GitSource({ settings, outbound, directory });
  const table = new RouteTable(sql, hostname());
  const follower = new RouteFollower({ sql, changes, log, table, host: hostname() });
  const traces = tracesOf(options);
  const common = {
    ...stores,
    log,
    lead: leadership,
    settings,
    traces,
    internalUrl: settings.controlInternalUrl?.replace(/\/+$/, "") ?? internalUrl,
  };
  const supervisor = new Supervisor({ ...common, table, follower });
  const clusters = new Clusters({ ...common, onReport: () => table.refresh() });
  if (settings.driver === "kubernetes") requireKeys(keysNeeded);
  await clusters.check();
  const clusterImages = new ClusterImages({ directory, outbound, settings });
  started.add(async () => clusterImages.close());
  const work: WorkDeps = {
    ...common,
    logs: new LogWriter(sql, log),
    git,
    table,
    settleGateways: () => follower.settle(),
    supervisor,
    clusters,
    clusterImages,
    faultPoint: createFaultPoint(settings.controlFaultPoints),
    measureBuild: measureBuilds(metrics.registry),
    countLostLease: measureLostLeases(metrics.registry),
  };
  const worker = new Worker(work);
  const pushes = new PushWatcher(work);
  const scaler = new Scaler({ sql, log, supervisor, lead: leadership, settings });
  const uploads = await openUploadSigner(secrets);
  const pushTokens = await openPushTokens(secrets);
  const health = controlHealth({ sql, log, settings, driver, clusters, supervisor, worker, leadership, dataDir });
  const deps: ControlDeps = { ...work, metrics, telemetry, health, internalUrl, uploads, pushTokens, worker, pushes };
  return { deps, leadership, follower, scaler };
}

/** Starts the parts: those of every control plane, and those of the leader whenever this one leads. */
async function lead(options: ControlPlaneOptions, stores: Stores, parts: Parts, started: Started): Promise<void> {
  const { settings, log } = options;
  const { deps, leadership, follower, scaler } = parts;
  const { supervisor, clusters, worker, pushes, git, health } = deps;
  const stopWork = async () => {
    await scaler.stop();
    await pushes.stop();
    await worker.stop();
    await clusters.stop();
  };
  await stores.changes.start();
  started.add(() => follower.stop());
  await follower.start();
  const reaper = new Reaper({ ...stores, log, settings });
  started.add(() => reaper.stop());
  started.add(() => leadership.stop());
  started.add(async () => {
    await stopWork();
    const isServed = settings.stopInstances === "auto" && (await follower.countOthers()) > 0;
    if (!isServed && settings.stopInstances !== "never") return supervisor.stop();
    log.info("the instances of deployments keep running without this control plane");
    return supervisor.release();
  });
  await leadership.start({
    async start() {
      await git.clear();
      await supervisor.start();
      await clusters.start();
      worker.start();
      pushes.start();
      scaler.start();
    },
    async release() {
      await stopWork();
      await supervisor.release();
    },
  });
  reaper.start();
  started.add(() => health.stop());
  health.start();
}

/** Returns the destination of the traces of deployments' runs. */
async function tracesOf({ settings, traces }: ControlPlaneOptions): Promise<Traces | null> {
  const { platformTraceUrl: url, platformTraceKey: key = "" } = settings;
  if (url !== undefined) return configuredTraces(url, key);
  const own = await traces;
  return own ? ownTraces(own) : null;
}

/** Requires API keys, because pods accept requests from the cluster's network, past the gateway's checks. */
function requireKeys(areNeeded: boolean): void {
  if (areNeeded) return;
  throw new ConfigError(
    "HEDDLE_CONTROL_DRIVER=kubernetes requires API keys, because every program in the cluster can reach the pods of " +
      "deployments. Set HEDDLE_AUTH=required.",
  );
}

/**
 * Whether deployments would send traces without a key to a platform that requires one from them alone, and not from
 * other programs of this machine.
 */
function lacksTraceKey(
  { platformTraceUrl: url, platformTraceKey: key = "" }: ControlSettings,
  driver: Driver,
): boolean {
  if (url === undefined || key !== "" || !URL.canParse(url) || !isLoopback(new URL(url).hostname)) return false;
  return driver.isolation !== undefined && driver.isolation.kind !== "none" && process.getuid?.() === 0;
}
