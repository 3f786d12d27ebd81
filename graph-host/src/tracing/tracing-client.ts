import { Client, getDefaultProjectName } from "langsmith";
import * as clientModule from "langsmith/client";

import type { LostTrace } from "../../../host-kit/src/host-protocol.ts";
import type { MaskingByField } from "../../../host-kit/src/masking/read-masking.ts";
import { omit } from "../omit.ts";
import type { Outbox } from "./outbox.ts";
import type { SentRun } from "./run-json.ts";
import { RunRecorder, toInputs, type TracePolicy, treeFields } from "./run-recorder.ts";
import { maskValues } from "./trace-masking.ts";
import { toIso } from "./trace-clock.ts";

type RunTree = Parameters<RunRecorder["begin"]>[0];

/** Placeholder: the platform's address and key are held by the outbox, as user code could read them here. */
const NOWHERE = "http://heddle.invalid";

/** Stands in for the platform's `/info`, so that no request waits for it. */
const INFO = {
  version: "0.16.14",
  batch_ingest_config: { use_multipart_endpoint: true, size_limit: 200, size_limit_bytes: 20 * 1024 * 1024 },
};

/** Limit on runs with attachments waiting for serialization. Beyond it the client drops runs itself. */
const MEMORY_BYTES = 64 * 1024 * 1024;

type Run = Parameters<Client["createRun"]>[0];
type Update = Parameters<Client["updateRun"]>[1];
type Projects = { project_name?: string; session_name?: string };
type Options = Parameters<Client["createRun"]>[1];

/**
 * Records the runs of an official client: those that `traceable` creates below a traced run. Only runs with attachments
 * take the client's own way, as multipart through the outbox: attachments are bytes, which JSON cannot carry.
 *
 * Where the environment enables LangSmith's tracing, its owner meant another platform to receive the traces: that
 * platform then receives them too, through a separate client.
 */
export class TracingClient extends Client {
  readonly #outbox: Outbox;
  readonly #recorder: RunRecorder;
  /** Runs whose start had attachments. */
  readonly #withFiles = new Set<string>();
  readonly #elsewhere: { client: Client; origin: string | undefined } | undefined;

  readonly #masking: MaskingByField | undefined;

  constructor(outbox: Outbox, masking?: MaskingByField) {
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
    this.#masking = masking;
    const { hideInputs, hideOutputs, hideMetadata } = Client.getDefaultClientConfig();
    this.#recorder = new RunRecorder(outbox, {
      environment: environmentFor(this["omitTracedRuntimeInfo"], this["tracingSampleRate"]),
      hideInputs: hideInputs === true,
      hideOutputs: hideOutputs === true,
      hideMetadata: hideMetadata === true,
    });
    if (isTracedByEnvironment()) this.#elsewhere = { client: new Client(), origin: clientOrigin(Client) };
  }

  /** Returns the recorder for the runs of a trace; nothing when the trace is not in the environment's sample. */
  recorderFor(traceId: string): Pick<RunRecorder, "begin" | "end"> | undefined {
    if (!this.#isSampled({ id: traceId, trace_id: traceId })) return undefined;
    return this.#elsewhere ? this.#both() : this.#recorder;
  }

  retry(runId: string, input: unknown): void {
    this.#recorder.retry(runId, input);
  }

  ended(runId: string): void {
    this.#recorder.ended(runId);
  }

  override createRun(run: Run, options?: Options): Promise<void> {
    this.#sendElsewhere((client) => client.createRun({ ...run }, options));
    const { project_name, session_name = project_name, attachments, ...fields } = run as Run & Projects;
    if (hasFiles(attachments) && run.id !== undefined) {
      this.#withFiles.add(run.id);
      return super.createRun(maskValues(run, this.#masking), options);
    }
    if (run.id === undefined || run.trace_id === undefined || run.dotted_order === undefined) {
      return super.createRun(maskValues(run, this.#masking), options);
    }
    const project = session_name ?? getDefaultProjectName();
    const sent = { ...omit(withoutTokens(fields), "child_runs"), session_name: project } as SentRun;
    if (this.#isSampled(sent)) this.#recorder.create(sent);
    return DONE;
  }

  override updateRun(runId: string, update: Update, options?: Options): Promise<void> {
    this.#sendElsewhere((client) => client.updateRun(runId, { ...update }, options));
    const { attachments, ...fields } = update;
    if (hasFiles(attachments) || this.#withFiles.delete(runId)) {
      return super.updateRun(runId, maskValues(update, this.#masking), options);
    }
    const sent = { ...withoutTokens(fields), id: runId } as SentRun;
    if (sent.end_time !== undefined) sent.end_time = notBefore(sent.start_time, sent.end_time);
    if (this.#isSampled(sent)) this.#recorder.update(sent);
    return DONE;
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

  /** Resolves when all recorded runs are in the outbox, and with the other platform, if there is one. */
  async handedOver(): Promise<void> {
    this.#recorder.flush();
    await this.flush();
    await this.awaitPendingTraceBatches();
    await this.#elsewhere?.client.awaitPendingTraceBatches();
  }

  /** Samples as the client does: by the trace, so that all of its runs are sent or none. */
  #isSampled(run: { id: string; trace_id?: string | undefined }): boolean {
    return this["tracingSampleRate"] === undefined || this["_filterForSampling"]([run as never]).length > 0;
  }

  /** Records runs of LangChain's callbacks for the other platform as well. */
  #both(): Pick<RunRecorder, "begin" | "end"> {
    return {
      begin: (tree: RunTree, policy: TracePolicy) => {
        this.#sendElsewhere((client) => client.createRun(treeFields(tree, true, policy) as unknown as Run));
        this.#recorder.begin(tree, policy);
      },
      end: (tree: RunTree, policy: TracePolicy) => {
        const update = treeFields(tree, false, policy) as unknown as Update;
        this.#sendElsewhere((client) => client.updateRun(tree.id, update));
        this.#recorder.end(tree, policy);
      },
    };
  }

  #sendElsewhere(send: (client: Client) => Promise<void>): void {
    if (!this.#elsewhere || this.#elsewhere.origin === this.#outbox.url) return;
    void send(this.#elsewhere.client).catch(() => {});
  }
}

const DONE = Promise.resolve();

const hasFiles = (attachments: object | undefined): boolean =>
  attachments !== undefined && Object.keys(attachments).length > 0;

/** Leaves out the tokens of a stream, as the client does. */
function withoutTokens<T extends object>(run: T): T {
  const { events } = run as { events?: { name?: string }[] };
  if (!events?.some(({ name }) => name === "new_token")) return run;
  const stripped = events.map((event) => (event.name === "new_token" ? { ...event, kwargs: undefined } : event));
  return { ...run, events: stripped };
}

/** Returns the end of a run, which in whole milliseconds may be before its start. */
function notBefore(start: string | number | undefined, end: string | number): string | number {
  const exact = typeof end === "number" ? toIso(Math.floor(end * 1000)) : end;
  return typeof start === "string" && start.length === exact.length && exact < start ? start : end;
}

/** Returns what the client adds to each run: the runtime and the environment's metadata. */
function environmentFor(omitsRuntime: boolean | undefined, sampleRate: number | undefined): { metadata?: object } {
  const { mergeRuntimeEnvIntoRun: merge } = clientModule as Partial<typeof clientModule>;
  return merge?.({ extra: {} } as Update, undefined, omitsRuntime, sampleRate).extra ?? {};
}

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
