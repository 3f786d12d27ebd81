/** Listener: runs the deployments of a remote control plane in a Kubernetes cluster. */
import { setTimeout as sleep } from "node:timers/promises";

import { readOptions } from "../base/config/options.ts";
import { createLog } from "../base/log.ts";
import { processOptions } from "../base/config/process-options.ts";
import { RepeatedFailure } from "../base/repeated-failure.ts";
import { openAccess } from "../control/kubernetes/api/kubeconfig.ts";
import { openCluster, servedNamespaces } from "../control/kubernetes/clusters.ts";
import { HttpWork } from "../control/kubernetes/http-work.ts";
import { Reconciler } from "../control/kubernetes/reconciler.ts";
import { clusterOptions } from "../control/kubernetes/settings.ts";

const RETRY_MS = 2_000;
const ASK_MS = 10_000;

export interface ListenerSettings {
  controlUrl: string;
  key: string;
  listenerId: string;
  /** Namespaces to serve. Empty: those that the control plane assigns to the listener. */
  namespaces: readonly string[];
}

/** Opens a listener, which waits for its control plane to respond. Throws ConfigError without access to a cluster. */
export async function openListener(
  { namespaces, ...settings }: ListenerSettings,
  env: Record<string, string | undefined>,
): Promise<{ stop(): Promise<void> }> {
  const options = readOptions({ ...clusterOptions, logLevel: processOptions.logLevel }, env);
  const log = createLog(options.logLevel);
  const source = new HttpWork(settings);
  const stopping = new AbortController();
  // an invalid kubeconfig or namespace fails the start before the control plane is contacted
  const access = await openAccess(options.kubeconfig);
  if (namespaces.length > 0) servedNamespaces(access, options, namespaces);
  let reconciler: Reconciler | undefined;
  const starting = (async () => {
    const served = namespaces.length > 0 ? namespaces : await askNamespaces(source, log, stopping.signal);
    if (stopping.signal.aborted) return;
    const cluster = await openCluster(options, { place: settings.listenerId, namespaces: served });
    reconciler = new Reconciler({ ...cluster, source, log });
    reconciler.start();
    log.info({ namespaces: cluster.settings.namespaces }, "the listener has started");
  })();
  starting.catch((error: unknown) => log.error({ err: error }, "the listener could not start"));
  return {
    async stop() {
      stopping.abort();
      await starting.catch(() => {});
      await reconciler?.stop();
    },
  };
}

async function askNamespaces(
  source: HttpWork,
  log: ReturnType<typeof createLog>,
  signal: AbortSignal,
): Promise<string[]> {
  const failure = new RepeatedFailure({ log, message: "the control plane does not respond; will retry" });
  while (!signal.aborted) {
    try {
      const served = await source.namespaces(AbortSignal.any([signal, AbortSignal.timeout(ASK_MS)]));
      failure.succeeded();
      return served;
    } catch (error) {
      if (!signal.aborted) failure.failed(error);
      await sleep(RETRY_MS, undefined, { signal }).catch(() => {});
    }
  }
  return [];
}
