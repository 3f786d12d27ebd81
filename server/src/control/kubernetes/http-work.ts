import { z } from "zod";

import {
  type ClusterReport,
  type ClusterWork,
  clusterWork,
  type ReportAnswer,
  reportAnswer,
  type WorkSource,
} from "./desired-deployment.ts";

/** Exceeds the time for which the control plane lets a request for work wait. */
const WORK_MS = 60_000;
const REPORT_MS = 30_000;

/** Work source of a listener: a remote control plane, reached by outgoing requests only. */
export class HttpWork implements WorkSource {
  readonly #url: string;
  readonly #headers: Record<string, string>;

  /** @param options `controlUrl`: including its path prefix, if there is one */
  constructor({ controlUrl, key, listenerId }: { controlUrl: string; key: string; listenerId: string }) {
    this.#url = `${controlUrl.replace(/\/+$/, "")}/v2/listeners/${listenerId}`;
    this.#headers = { "x-api-key": key, "content-type": "application/json" };
  }

  next(version: string | null, signal: AbortSignal): Promise<ClusterWork> {
    const query = version === null ? "" : `?version=${encodeURIComponent(version)}`;
    const limited = AbortSignal.any([signal, AbortSignal.timeout(WORK_MS)]);
    return this.#send(clusterWork, `/work${query}`, { signal: limited });
  }

  report(report: ClusterReport): Promise<ReportAnswer> {
    const signal = AbortSignal.timeout(REPORT_MS);
    return this.#send(reportAnswer, "/reports", { method: "POST", body: JSON.stringify(report), signal });
  }

  /** Returns the namespaces that the control plane assigns to the listener. */
  async namespaces(signal: AbortSignal): Promise<string[]> {
    const schema = z.object({ compute_config: z.object({ k8s_namespaces: z.array(z.string()).nullable() }) });
    return (await this.#send(schema, "/self", { signal })).compute_config.k8s_namespaces ?? [];
  }

  async #send<S extends z.ZodType>(schema: S, path: string, init: RequestInit): Promise<z.output<S>> {
    const response = await fetch(this.#url + path, { ...init, headers: this.#headers });
    const body = await response.text();
    if (!response.ok) {
      throw new Error(`the control plane answered ${response.status} to ${path}: ${body.slice(0, 300)}`);
    }
    return schema.parse(JSON.parse(body));
  }
}
