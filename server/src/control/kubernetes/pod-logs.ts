/**
 * Follows the logs of pods. A log's position is the time of its last stored line in nanoseconds, because the API server
 * returns the time of each line but no offset. Lines are buffered in memory up to a limit; above it, reading pauses,
 * and the remaining lines stay in the cluster.
 */
import { setTimeout as sleep } from "node:timers/promises";

import type { Log } from "../../base/log.ts";
import { objectPath } from "./api/kinds.ts";
import { isMissing, type KubernetesApi, KubernetesError } from "./api/kubernetes-api.ts";
import { readLines } from "./api/read-lines.ts";
import type { PodLog } from "./desired-deployment.ts";
import { AGENT_CONTAINER } from "./names.ts";

const MAX_WAITING = 256 * 1024;
/** A container may print without line feeds. With MAX_WAITING, this is less than LONGEST_LOG of a report. */
const LONGEST_LINE = 64 * 1024;
const AGAIN_MS = 1_000;

/** Parses a line that begins with its time. Null when it does not. */
export function parseStamp(line: string): { at: bigint; text: string } | null {
  const found = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d) ?(.*)$/s.exec(line);
  if (!found) return null;
  const [, seconds, fraction = "", zone, text] = found;
  const ms = Date.parse(`${seconds}${zone}`);
  if (Number.isNaN(ms)) return null;
  return { at: BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, "0")), text: text! };
}

/** Size of a line in a report, with its line feed. */
const sizeOf = ({ text }: { text: string }): number => text.length + 1;

interface Followed {
  uid: string;
  name: string;
  namespace: string;
}

class PodFollower {
  readonly pod: Followed;
  readonly #api: KubernetesApi;
  readonly #log: Log;
  readonly #stop = new AbortController();
  /** Position of the last line that is stored. */
  #stored: bigint;
  /** Position of the last line read. */
  #read: bigint;
  #lines: { at: bigint; text: string }[] = [];
  #size = 0;
  /** Whether the pod has ended and its log was read to the end. */
  isOver = false;
  hasEnded = false;

  constructor(api: KubernetesApi, log: Log, pod: Followed, position: bigint) {
    this.#api = api;
    this.#log = log;
    this.pod = pod;
    this.#stored = position;
    this.#read = position;
    void this.#run();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const isLast = this.hasEnded;
      try {
        await this.#follow();
        if (isLast) break;
      } catch (error) {
        if (signal.aborted || isMissing(error)) break;
        // 400: the container has not started yet
        if (!(error instanceof KubernetesError))
          this.#log.debug({ err: error, pod: this.pod.name }, "the log stream of a pod ended early");
        else if (isLast) break;
      }
      await sleep(AGAIN_MS, undefined, { signal }).catch(() => {});
    }
    this.isOver = true;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    const query: Record<string, string> = { container: AGENT_CONTAINER, follow: "true", timestamps: "true" };
    // sinceTime has whole seconds, so stored lines are sent again; they are skipped below
    if (this.#read > 0n) query["sinceTime"] = new Date(Number(this.#read / 1_000_000_000n) * 1000).toISOString();
    const path = `${objectPath("Pod", this.pod.namespace, this.pod.name)}/log`;
    const response = await this.#api.open("GET", path, { query, signal });
    // lines written together can have the same time, so only lines of earlier streams are skipped
    const from = this.#read;
    for await (const line of readLines(response, LONGEST_LINE)) {
      const stamped = parseStamp(line.slice(0, LONGEST_LINE));
      if (!stamped || stamped.at <= from) continue;
      this.#lines.push(stamped);
      this.#size += sizeOf(stamped);
      this.#read = stamped.at;
      while (this.#size > MAX_WAITING) await sleep(AGAIN_MS, undefined, { signal });
    }
  }

  /** Returns the lines that are not stored yet; null when there are none. */
  take(): PodLog | null {
    if (this.#lines.length === 0) return null;
    return {
      uid: this.pod.uid,
      from: String(this.#stored),
      to: String(this.#lines.at(-1)!.at),
      text: this.#lines.map(({ text }) => text).join("\n"),
    };
  }

  /** Removes the lines that are stored. */
  confirm(position: bigint): void {
    if (position < this.#stored) return;
    this.#stored = position;
    const left = this.#lines.findIndex(({ at }) => at > position);
    for (const line of this.#lines.splice(0, left === -1 ? this.#lines.length : left)) this.#size -= sizeOf(line);
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  stop(): void {
    this.#stop.abort();
  }
}

export class PodLogs {
  readonly #api: KubernetesApi;
  readonly #log: Log;
  readonly #followers = new Map<string, PodFollower>();

  constructor(api: KubernetesApi, log: Log) {
    this.#api = api;
    this.#log = log;
  }

  /** Follows the logs of these pods from their positions. Logs that are already followed are not affected. */
  follow(pods: readonly Followed[], positions: Record<string, string>): void {
    for (const pod of pods) {
      const position = positions[pod.uid];
      if (position === undefined || this.#followers.has(pod.uid)) continue;
      this.#followers.set(pod.uid, new PodFollower(this.#api, this.#log, pod, BigInt(position)));
    }
    const living = new Set(pods.map(({ uid }) => uid));
    for (const [uid, follower] of this.#followers) {
      follower.hasEnded = !living.has(uid);
      if (follower.isOver && follower.isEmpty && follower.hasEnded) this.#followers.delete(uid);
    }
  }

  take(): PodLog[] {
    return [...this.#followers.values()].flatMap((follower) => follower.take() ?? []);
  }

  /** @param positions positions up to which the logs are stored, by the pod's uid */
  confirm(positions: Record<string, string>): void {
    for (const [uid, position] of Object.entries(positions)) this.#followers.get(uid)?.confirm(BigInt(position));
  }

  stop(): void {
    for (const follower of this.#followers.values()) follower.stop();
    this.#followers.clear();
  }
}

/** Reads the last log lines of a container's previous instance, or of its current one. Never throws. */
export async function readLogTail(
  api: KubernetesApi,
  { namespace, pod, container }: { namespace: string; pod: string; container: string },
): Promise<string> {
  const path = `${objectPath("Pod", namespace, pod)}/log`;
  for (const previous of ["true", "false"]) {
    try {
      const lines: string[] = [];
      const response = await api.open("GET", path, { query: { container, previous, tailLines: "15" } });
      for await (const line of readLines(response, LONGEST_LINE)) lines.push(line.slice(0, LONGEST_LINE));
      if (lines.length > 0) return lines.join("\n").slice(-3000).replaceAll("\0", "\uFFFD");
    } catch {
      // the previous instance's log no longer exists
    }
  }
  return "";
}
