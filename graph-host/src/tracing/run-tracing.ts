import { consumeCallback } from "@langchain/core/callbacks/promises";

import { complain } from "../complain.ts";
import type { LostTrace, RunKwargs, RunStart, TraceDestination } from "../protocol.ts";
import { Outbox } from "./outbox.ts";
import { RunTracer } from "./run-tracer.ts";
import { TracingClient } from "./tracing-client.ts";

/** Traces that wait for a platform that is away. */
const OUTBOX_BYTES = 32 * 1024 * 1024;

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * Gives each run a tracer: LangChain's own, of the project's copy, so that whatever speaks to it (models, subgraphs,
 * `traceable`) finds what it expects. It is in the run's own config and not in the environment: what is no run, such
 * as the rehearsals at the start, is not traced.
 */
export class RunTracing {
  readonly #outbox = new Outbox({ maxBytes: OUTBOX_BYTES, say: complain });
  #client: TracingClient | undefined;
  #isOn = false;

  direct(destination: TraceDestination): void {
    this.#isOn = destination.state !== "off";
    this.#outbox.direct(destination);
  }

  /**
   * What a run's config needs for being traced; nothing when runs are not traced. The run's id is its trace's id, so a
   * later attempt goes on in the trace of the first one. `ended` lets go of what is kept for it.
   */
  start(start: RunStart, { config, input }: RunKwargs): RunTrace | undefined {
    if (!this.#isOn) return undefined;
    const client = (this.#client ??= new TracingClient(this.#outbox));
    if (start.attempt > 1) client.retry(start.run_id, input);
    const { langsmith_project: project, langsmith_example_id: example } = config.configurable ?? {};
    const tracer = new RunTracer({
      client,
      // LangGraph puts it into the metadata of all runs but the root
      metadata: { run_id: start.run_id },
      // a platform refuses runs for what it can't store as one of these, and the trace would be lost
      ...(typeof project === "string" && project.length <= 1024 && { projectName: project }),
      ...(typeof example === "string" && UUID.test(example) && { exampleId: example }),
    });
    return { callbacks: [tracer], ended: () => void afterCallbacks().then(() => client.ended(start.run_id)) };
  }

  /** Ends a trace whose tracer is gone, or tells of a run that never came to have one. */
  close(run: LostTrace): void {
    if (!this.#isOn) return;
    (this.#client ??= new TracingClient(this.#outbox)).close(run);
  }

  /** For a process that is about to end. @returns whether all is delivered */
  async flush(ms: number): Promise<boolean> {
    if (!this.#client) return true;
    const deadline = performance.now() + ms;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), ms);
    });
    const handedOver = afterCallbacks().then(() => this.#client!.handedOver());
    const isInTime = await Promise.race([handedOver.then(() => true), late]);
    clearTimeout(timer);
    return isInTime && this.#outbox.flush(Math.max(deadline - performance.now(), 0));
  }
}

/** Of one attempt of a run. */
export interface RunTrace {
  /** For the run's config. */
  callbacks: RunTracer[];
  /** Nothing more comes of this attempt but what is on its way. */
  ended(): void;
}

/** LangChain tells tracers in the background, in order: what follows behind them all comes last. */
const afterCallbacks = (): Promise<void> =>
  new Promise((resolve) => {
    void consumeCallback(() => Promise.resolve(resolve()), false);
  });
