import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { residentMib } from "../security/flood.ts";
import type { ArchiveReply, ArchiveRequest } from "./archive-worker.ts";
import { HEAP_MB, MAX_GROWTH_MIB } from "./servers.ts";

/** Reads archives in another process, one at a time. */
export class ArchiveReader {
  #child: ChildProcess | undefined;
  #warmMib = 0;
  #turn: Promise<unknown> = Promise.resolve();

  read(request: ArchiveRequest): Promise<ArchiveReply | { died: string }> {
    const reading = this.#turn.then(() => this.#read(request));
    this.#turn = reading.catch(() => {});
    return reading;
  }

  stop(): void {
    this.#child?.kill("SIGKILL");
  }

  async #read(request: ArchiveRequest): Promise<ArchiveReply | { died: string }> {
    const child = await this.#open();
    const ended = once(child, "exit").then(() => ({ died: "the process has ended" }));
    const answered = once(child, "message").then(([reply]) => reply as ArchiveReply);
    child.send(request);
    const reply = await Promise.race([answered, ended]);
    if ("died" in reply) {
      this.#child = undefined;
      return reply;
    }
    const growth = Math.round(residentMib(child.pid!) - this.#warmMib);
    if (growth <= MAX_GROWTH_MIB) return reply;
    child.kill("SIGKILL");
    this.#child = undefined;
    return { died: `the process has grown by ${growth} MiB` };
  }

  async #open(): Promise<ChildProcess> {
    if (this.#child) return this.#child;
    const child = fork(fileURLToPath(new URL("archive-worker.ts", import.meta.url)), {
      execArgv: ["--import", "tsx", `--max-old-space-size=${HEAP_MB}`],
    });
    await once(child, "message");
    this.#warmMib = residentMib(child.pid!);
    this.#child = child;
    return child;
  }
}
