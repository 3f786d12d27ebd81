/** Deployments in clusters: the plan for all of them, and the work of the control plane's own cluster. */
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

/** Time for which a listener waits for work. Bounds the stop of the server, which lets open requests end. */
const WAIT_MS = 10_000;
const DEFAULT_NAMESPACE = "default";

interface ClusterConnectionSettings {
  kubeconfig: string | undefined;
  kubernetesNamespace: string | undefined;
  kubernetesAddress: string | undefined;
  kubernetesIngressFrom: readonly string[];
  kubernetesReadOnly: boolean;
  kubernetesRunAsUser: number;
  kubernetesTmpMb: number;
}

/**
 * Opens the API of a cluster and returns what a reconciler needs. Throws ConfigError without access to one.
 * @param params `place`: owner of the objects; `namespaces`: those that are served besides the default one
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

  /** Checks the access to the own cluster, if there is one. Throws ConfigError. */
  async check(): Promise<void> {
    if (this.#options.settings.driver === "kubernetes") (await this.#open()).api.close();
  }

  #open(): Promise<Pick<ReconcilerOptions, "api" | "settings">> {
    return openCluster(this.#options.settings, { place: this.#options.installation });
  }

  /** Starts with the leader's term. */
  async start(): Promise<void> {
    const { log, lead, settings } = this.#options;
    this.planner.start();
    if (settings.driver !== "kubernetes") return;
    const cluster = await this.#open();
    this.#api = cluster.api;
    const source = this.workOf(OWN_CLUSTER, 1_000);
    this.#own = new Reconciler({ ...cluster, source, log, mayAct: () => lead.confirm() });
    this.#own.start();
  }

  /** Stops the work; what runs in clusters stays. */
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

  /** Time since which the own cluster's API server has not answered, in ms since 1970; null while it does. */
  awaySince(): number | null {
    return this.#own?.awaySince ?? null;
  }

  /** Returns the work of a cluster, by its id. */
  workOf(cluster: string, waitMs = WAIT_MS): WorkSource {
    const { sql, secrets, onReport, settings } = this.#options;
    // the own cluster's API server is the operator's; a listener belongs to a workspace
    const mayReach = cluster === OWN_CLUSTER ? () => true : matchHosts(settings.listenerAddresses);
    return new DatabaseWork({ sql, secrets, cluster, waitMs, mayReach, onReport });
  }
}
