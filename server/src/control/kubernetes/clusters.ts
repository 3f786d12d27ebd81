/** Deployments in clusters: the planner for all clusters, and the reconciler of the control plane's own cluster. */
import type { Log } from "../../base/log.ts";
import type { Sql } from "../../base/db/connect.ts";
import type { Secrets } from "../../base/secrets/secrets.ts";
import { KubernetesApi } from "./api/kubernetes-api.ts";
import { openAccess } from "./api/kubeconfig.ts";
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
  const namespace = settings.kubernetesNamespace ?? namespaces[0] ?? access.namespace ?? DEFAULT_NAMESPACE;
  return {
    api: new KubernetesApi(access),
    settings: {
      place,
      namespace,
      namespaces: [...new Set([namespace, ...namespaces])],
      ingressFrom: settings.kubernetesIngressFrom,
      pullSecret: settings.kubernetesPullSecret ?? null,
      readOnly: settings.kubernetesReadOnly,
      runAsUser: settings.kubernetesRunAsUser,
      tmpMb: settings.kubernetesTmpMb,
      addressTemplate: settings.kubernetesAddress ?? null,
    },
  };
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
    const { driver, kubeconfig } = this.#options.settings;
    if (driver === "kubernetes") await openAccess(kubeconfig);
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

  wake(): void {
    this.planner.wake();
    this.#own?.wake();
  }

  /** Time at which the own cluster's API server stopped responding, in ms since 1970; null while it responds. */
  awaySince(): number | null {
    return this.#own?.awaySince ?? null;
  }

  /** Returns the work source of a cluster by its id. */
  workSource(cluster: string, waitMs = WAIT_MS): WorkSource {
    const { sql, secrets, onReport, settings } = this.#options;
    // the operator controls the own cluster's API server; a workspace controls its listeners
    const mayReach = cluster === OWN_CLUSTER ? () => true : matchHosts(settings.listenerAddresses);
    return new DatabaseWork({ sql, secrets, cluster, waitMs, mayReach, onReport });
  }
}
