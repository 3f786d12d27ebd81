import { Client, getDefaultProjectName } from "langsmith";

import type { LostTrace } from "../host-protocol.ts";
import type { Outbox } from "./outbox.ts";

/** Placeholder: the platform's address and key are held by the outbox, as user code could read them here. */
const NOWHERE = "http://heddle.invalid";

/**
 * Stands in for the platform's `/info`, so that no request waits for it. One JSON document a batch instead of one part
 * a field: measured, the client's multipart doubles the cost of a trivial run's trace, 2.8 instead of 1.4 ms.
 */
const INFO = {
  version: "0.16.14",
  batch_ingest_config: { use_multipart_endpoint: false, size_limit: 200, size_limit_bytes: 20 * 1024 * 1024 },
};

/** Limit on runs waiting for serialization. Beyond it the client drops runs itself. */
const MEMORY_BYTES = 64 * 1024 * 1024;

type Run = Parameters<Client["createRun"]>[0];
type Update = Parameters<Client["updateRun"]>[1];
type Batch = Parameters<Client["batchIngestRuns"]>[0];
type BatchOptions = Parameters<Client["batchIngestRuns"]>[1];

/**
 * The official client, sending through an outbox instead of the network.
 *
 * Where the environment enables LangSmith's tracing, its owner meant another platform to receive the traces: that
 * platform then receives them too, through a separate client.
 */
export class TracingClient extends Client {
  readonly #outbox: Outbox;
  /**
   * Runs in a later attempt, with their input. The start of such a root is sent as an update, because the first
   * attempt's start was recorded; and its graph input may be empty, because it resumes from a checkpoint.
   */
  readonly #retried = new Map<string, unknown>();
  readonly #elsewhere: { client: Client; origin: string | undefined } | undefined;

  constructor(outbox: Outbox) {
    super({
      apiUrl: NOWHERE,
      apiKey: "none",
      autoBatchTracing: true,
      blockOnRootRunFinalization: false,
      maxIngestMemoryBytes: MEMORY_BYTES,
      tracingMode: "langsmith",
      fetchImplementation: (input, init) => handOver(outbox, input, init),
    });
    this.#outbox = outbox;
    if (isTracedByEnvironment()) this.#elsewhere = { client: new Client(), origin: clientOrigin(Client) };
  }

  /** Registers a later attempt of this run. */
  retry(runId: string, input: unknown): void {
    this.#retried.set(runId, input);
  }

  ended(runId: string): void {
    this.#retried.delete(runId);
  }

  override createRun(run: Run, options?: Parameters<Client["createRun"]>[1]): Promise<void> {
    this.#sendElsewhere((client) => client.createRun({ ...run }, options));
    if (run.id === undefined || !this.#retried.has(run.id)) return super.createRun(run, options);
    const { project_name: session_name, ...begun } = run;
    const inputs = toInputs(this.#retried.get(run.id)) ?? run.inputs;
    return super.updateRun(run.id, { ...begun, inputs, ...(session_name && { session_name }) } as Update, options);
  }

  /** Closes a run. An update with project and start also creates the run when the platform does not know it. */
  close({ run_id: id, project, inputs, error, metadata, ...run }: LostTrace): void {
    const patch = {
      ...run,
      id,
      trace_id: id,
      run_type: "chain",
      end_time: new Date().toISOString(),
      session_name: project ?? getDefaultProjectName(),
      ...(error !== null && { error }),
      ...(toInputs(inputs) && { inputs }),
      extra: { metadata },
    };
    const body = Buffer.from(JSON.stringify({ post: [], patch: [patch] }));
    this.#outbox.add({ path: "/runs/batch", contentType: "application/json", body });
  }

  override updateRun(runId: string, update: Update, options?: Parameters<Client["updateRun"]>[2]): Promise<void> {
    this.#sendElsewhere((client) => client.updateRun(runId, { ...update }, options));
    return super.updateRun(runId, update, options);
  }

  /** Sends a batch with attachments as multipart: attachments are bytes, which JSON cannot carry. */
  override batchIngestRuns(batch: Batch, options?: BatchOptions): Promise<void> {
    const runs: { attachments?: unknown }[] = [...(batch.runCreates ?? []), ...(batch.runUpdates ?? [])];
    const hasFiles = runs.some(({ attachments }) => attachments && Object.keys(attachments).length > 0);
    if (hasFiles) return this.multipartIngestRuns(batch, options);
    for (const run of runs) delete run.attachments;
    return super.batchIngestRuns(batch, options);
  }

  /** Resolves when all recorded runs are in the outbox, and with the other platform, if there is one. */
  async handedOver(): Promise<void> {
    await this.flush();
    await this.awaitPendingTraceBatches();
    await this.#elsewhere?.client.awaitPendingTraceBatches();
  }

  #sendElsewhere(send: (client: Client) => Promise<void>): void {
    if (!this.#elsewhere || this.#elsewhere.origin === this.#outbox.url) return;
    void send(this.#elsewhere.client).catch(() => {});
  }
}

const toInputs = (input: unknown): Record<string, unknown> | undefined =>
  typeof input === "object" && input !== null ? (input as Record<string, unknown>) : undefined;

const SWITCHES = ["LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGSMITH_TRACING", "LANGCHAIN_TRACING"];

const isTracedByEnvironment = (): boolean => SWITCHES.some((name) => process.env[name] === "true");

function clientOrigin(client: typeof Client): string | undefined {
  const { apiUrl } = client.getDefaultClientConfig();
  return apiUrl === undefined ? undefined : new URL(apiUrl).origin;
}

/** Replaces the client's `fetch`: accepts batches and answers `/info`, the only requests of a write-only client. */
async function handOver(outbox: Outbox, input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const url = input instanceof Request ? input.url : String(input);
  const path = url.startsWith(NOWHERE) ? url.slice(NOWHERE.length) : url;
  if (path === "/info") return Response.json(INFO);
  if (init.method !== "POST" || !/^\/runs\/(batch|multipart)$/.test(path)) {
    throw new Error(`${init.method ?? "GET"} ${path}: this client only sends traces`);
  }
  const contentType = new Headers(init.headers).get("content-type") ?? "application/json";
  const { body } = init;
  const bytes = body instanceof Uint8Array ? body : new Uint8Array(await new Response(body).arrayBuffer());
  outbox.add({ path, contentType, body: bytes });
  return new Response("{}", { status: 202 });
}
