import { createWriteStream, type WriteStream } from "node:fs";
import { once } from "node:events";

import type { Exit, FaultEvent, HealthSample, Hook, Operation, OperationName, Window } from "./check/world.ts";
import { now } from "./now.ts";

/** Keeps the clients' observations, the nemesis' actions and the servers' health, and appends each to a file. */
export class History {
  readonly operations: Operation[] = [];
  readonly faults: FaultEvent[] = [];
  readonly calms: Window[] = [];
  readonly health: HealthSample[] = [];
  readonly exits: Exit[] = [];
  readonly hooks: Hook[] = [];
  readonly #file: WriteStream;
  #next = 1;
  #health = new Map<string, number>();

  constructor(file: string) {
    this.#file = createWriteStream(file, { flags: "a" });
  }

  /** Records the invocation of an operation, and returns the record for the caller to complete. */
  invoke(name: OperationName, about: Partial<Operation>): Operation {
    const operation: Operation = { id: this.#next++, name, invoked: now(), outcome: "open", ...about };
    this.operations.push(operation);
    this.#write("invoke", operation);
    return operation;
  }

  complete(operation: Operation, end: Partial<Operation>): void {
    Object.assign(operation, end, { ended: now() });
    this.#write("complete", operation);
  }

  beginFault(fault: Omit<FaultEvent, "id" | "begin">): FaultEvent {
    const event: FaultEvent = { id: this.#next++, begin: now(), ...fault };
    this.faults.push(event);
    this.#write("fault", event);
    return event;
  }

  healFault(event: FaultEvent): void {
    event.healing = now();
  }

  endFault(event: FaultEvent): void {
    event.end = now();
    this.#write("healed", event);
  }

  calm(window: Window): void {
    this.calms.push(window);
    this.#write("calm", window);
  }

  hook(hook: Omit<Hook, "t">): void {
    const entry = { t: now(), ...hook };
    this.hooks.push(entry);
    this.#write("webhook", entry);
  }

  /** Keeps every sample, and writes those that differ from the one before to the file. */
  sample(sample: HealthSample): void {
    this.health.push(sample);
    const key = `${sample.server} ${sample.endpoint}`;
    if (this.#health.get(key) === sample.status) return;
    this.#health.set(key, sample.status);
    this.#write("health", sample);
  }

  exit(exit: Exit): void {
    this.exits.push(exit);
    this.#write("exit", exit);
  }

  async close(): Promise<void> {
    this.#file.end();
    await once(this.#file, "finish");
  }

  #write(record: string, entry: object): void {
    // scenarios may outlive the run, whose error is the one to report
    if (!this.#file.writableEnded) this.#file.write(`${JSON.stringify({ record, at: now(), ...entry })}\n`);
  }
}
