/** Deployments in clusters: the planner for all clusters, and the reconciler of the control plane's own cluster. */
import { ConfigError } from "../../base/config/options.ts";
import type { Log } from "../../base/log.ts";
import type { Sql } from "../../base/db/connect.ts";
import type { Secrets } from "../../base/secrets/secrets.ts";
import { KubernetesApi } from "./api/kubernetes-api.ts";
import { type ClusterAccess, openAccess } from "./api/kubeconfig.ts";
import { matchHosts } from "./match-hosts.ts";
import { DatabaseWork } from "./cluster-work.ts";
import type { WorkSource } from "./desired-deployment.ts";
import { ClusterPlanner, type PlannerOptions } from "./planner.ts";
import { OWN_CLUSTER } from "./placement.ts";
import { Reconciler, type ReconcilerOptions } from "./reconciler.ts";

/** Time for which a listener's request waits for work. The shutdown of the server waits for open requests. */
const WAIT_MS = 10_000;
const DEFAULT_NAMESPACE = "default";

interface ClusterConnectionSettings {
  kubeconfig: string | undefined;
  kubernetesNamespace: string | undefined;
  kubernetesAddress: string | undefined;
  kubernetesIngressFrom: readonly string[];
  kubernetesPullSecret: string | undefined;
  kubernetesReadOnly: boolean;
  kubernetesRunAsUser: number;
  kubernetesTmpMb: number;
}

/**
 * Opens the API of a cluster and returns the options of its reconciler. Throws ConfigError without access to a cluster.
 * @param params `place`: owner of the objects; `namespaces`: namespaces to serve in addition to the default one
 */
export async function openCluster(
  settings: ClusterConnectionSettings,
  { place, namespaces = [] }: { place: string; namespaces?: readonly string[] },
): Promise<Pick<ReconcilerOptions, "api" | "settings">> {
  const access = await openAccess(settings.kubeconfig);
  const served = servedNamespaces(access, settings, namespaces);
  return {
    api: new KubernetesApi(access),
    settings: {
      place,
      namespace: served[0],
      namespaces: served,
      ingressFrom: settings.kubernetesIngressFrom,
      pullSecret: settings.kubernetesPullSecret ?? null,
      readOnly: settings.kubernetesReadOnly,
      runAsUser: settings.kubernetesRunAsUser,
      tmpMb: settings.kubernetesTmpMb,
      addressTemplate: settings.kubernetesAddress ?? null,
    },
  };
}

/**
 * Returns the namespaces of deployments, the default one first. Throws ConfigError for the namespace in which this
 * process itself runs: there, pods of deployments could take part in its Services, and name its Secrets.
 */
export function servedNamespaces(
  access: Pick<ClusterAccess, "namespace" | "ownNamespace">,
  { kubernetesNamespace: named }: Pick<ClusterConnectionSettings, "kubernetesNamespace">,
  namespaces: readonly string[],
): [string, ...string[]] {
  const first = named ?? namespaces[0] ?? access.namespace ?? DEFAULT_NAMESPACE;
  const served = [...new Set([first, ...namespaces])] as [string, ...string[]];
  if (access.ownNamespace === null || !served.includes(access.ownNamespace)) return served;
  throw new ConfigError(
    `Deployments cannot run in the namespace ${access.ownNamespace}, in which this server itself runs. Set ` +
      "HEDDLE_KUBERNETES_NAMESPACE, or the namespaces of the listener, to another one.",
  );
}

export interface ClustersOptions extends PlannerOptions {
  sql: Sql;
  log: Log;
  secrets: Secrets;
  settings: PlannerOptions["settings"] & ClusterConnectionSettings & { listenerAddresses: readonly string[] };
  /** Identifies this installation to its cluster. */
  installation: string;
  /** Called after each report that was stored. */
  onReport: () => Promise<void>;
}

export class Clusters {
  readonly planner: ClusterPlanner;
  readonly #options: ClustersOptions;
  #own: Reconciler | undefined;
  #api: KubernetesApi | undefined;

  constructor(options: ClustersOptions) {
    this.#options = options;
    this.planner = new ClusterPlanner(options);
  }

  /** Checks the access to the control plane's own cluster, if it has one. Throws ConfigError. */
  async check(): Promise<void> {
    const { settings } = this.#options;
    if (settings.driver === "kubernetes") servedNamespaces(await openAccess(settings.kubeconfig), settings, []);
  }

  /** Starts the work when this control plane becomes the leader. */
  async start(): Promise<void> {
    const { log, lead, settings, installation } = this.#options;
    this.planner.start();
    if (settings.driver !== "kubernetes") return;
    const cluster = await openCluster(settings, { place: installation });
    this.#api = cluster.api;
    const source = this.workSource(OWN_CLUSTER, 1_000);
    this.#own = new Reconciler({ ...cluster, source, log, mayAct: () => lead.confirm() });
    this.#own.start();
  }

  /** Stops the work. Deployments keep running in their clusters. */
  async stop(): Promise<void> {
    await this.planner.stop();
    await this.#own?.stop();
    this.#own = undefined;
    this.#api?.close();
  }

  /** Time at which the own cluster's API server stopped responding, in ms since 1970; null while it responds. */
  awaySince(): number | null {
    return this.#own?.awaySince ?? null;
  }

  /** Returns the work source of a cluster by its id. */
  workSource(cluster: string, waitMs = WAIT_MS): WorkSource {
    const { sql, secrets, changes, onReport, settings } = this.#options;
    // the operator controls the own cluster's API server; a workspace controls its listeners
    const mayReach = cluster === OWN_CLUSTER ? () => true : matchHosts(settings.listenerAddresses);
    return new DatabaseWork({ sql, secrets, changes, cluster, waitMs, mayReach, onReport });
  }
}
