import { complain } from "../complain.ts";
import type { LostTrace, RunKwargs, RunStart, TraceDestination } from "../../../host-kit/src/host-protocol.ts";
import { copyManagersCheaply } from "./copy-managers.ts";
import { Outbox } from "./outbox.ts";
import { RunTracer } from "./run-tracer.ts";
import { batchMask, traceMasking } from "./trace-masking.ts";
import { TracingClient } from "./tracing-client.ts";

/** Limit on traces queued for an unreachable platform: a run with a few of the largest values that are permitted. */
const OUTBOX_BYTES = 64 * 1024 * 1024;

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * Gives each run a tracer: a subclass of LangChain's, from the project's copy, so that models, subgraphs and `traceable`
 * find what they expect. It is in the run's own config instead of the environment, so that executions other than runs, such
 * as the rehearsals at the start, are not traced.
 */
export class RunTracing {
  readonly #masking = traceMasking(complain);
  readonly #outbox = new Outbox({
    maxBytes: OUTBOX_BYTES,
    log: complain,
    mask: this.#masking && batchMask(this.#masking),
  });
  #client: TracingClient | undefined;
  #isOn = false;

  direct(destination: TraceDestination): void {
    this.#isOn = destination.state !== "off";
    this.#outbox.direct(destination);
  }

  /**
   * Returns the config that traces a run; nothing when runs are not traced. The run's id is its trace's id, so a later
   * attempt continues the trace of the first one. `ended` releases the state kept for it.
   */
  start(start: RunStart, { config, input }: RunKwargs): RunTrace | undefined {
    if (!this.#isOn) return undefined;
    copyManagersCheaply();
    const client = (this.#client ??= new TracingClient(this.#outbox, this.#masking));
    if (start.attempt > 1) client.retry(start.run_id, input);
    const { langsmith_project: project, langsmith_example_id: example } = config.configurable ?? {};
    const fields = {
      client,
      // LangGraph adds it to the metadata of all runs but the root
      metadata: { run_id: start.run_id },
      // a platform rejects runs whose project name it can't store, and the trace would be lost
      ...(typeof project === "string" && project.length <= 1024 && { projectName: project }),
      ...(typeof example === "string" && UUID.test(example) && { exampleId: example }),
    };
    const tracer = new RunTracer(fields, client.recorderFor(start.run_id));
    return { callbacks: [tracer], ended: () => client.ended(start.run_id) };
  }

  /** Ends a trace whose tracer is gone, or reports a run that never had one. */
  close(run: LostTrace): void {
    if (!this.#isOn) return;
    (this.#client ??= new TracingClient(this.#outbox, this.#masking)).close(run);
  }

  /** Flushes before the process ends. @returns whether everything was delivered */
  async flush(ms: number): Promise<boolean> {
    if (!this.#client) return true;
    const deadline = performance.now() + ms;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), ms);
    });
    const isInTime = await Promise.race([this.#client.handedOver().then(() => true), late]);
    clearTimeout(timer);
    return isInTime && this.#outbox.flush(Math.max(deadline - performance.now(), 0));
  }
}

/** Tracing of one attempt of a run. */
export interface RunTrace {
  /** Callbacks for the run's config. */
  callbacks: RunTracer[];
  /** Marks the attempt as ended. */
  ended(): void;
}
