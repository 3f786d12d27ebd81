import { BackOff } from "../../../base/back-off.ts";
import type { Log } from "../../../base/log.ts";
import { RepeatedFailure } from "../../../base/repeated-failure.ts";
import { type Kind, type KubernetesObject, objectPath } from "./kinds.ts";
import { KubernetesError, type KubernetesApi } from "./kubernetes-api.ts";
import { readLines } from "./read-lines.ts";

/** Time after which the server ends a watch. Limits how long a dead connection goes unnoticed. */
const WATCH_SECONDS = 240;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;

export interface InformerOptions<T extends KubernetesObject> {
  api: KubernetesApi;
  kind: Kind;
  namespace: string;
  /** Label selector. */
  selector: string;
  log: Log;
  /** Called for each object that was added, changed or deleted. */
  onChange: (object: T, isDeleted: boolean) => void;
}

interface WatchEvent<T> {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  object: T & { code?: number };
}

/**
 * Caches the objects of a kind in a namespace: lists them, watches for changes, and lists them again when the watch has
 * expired. While the API server does not respond, the last state remains.
 */
export class Informer<T extends KubernetesObject> {
  readonly objects = new Map<string, T>();
  readonly #options: InformerOptions<T>;
  readonly #failure: RepeatedFailure;
  readonly #stop = new AbortController();
  readonly #backOff = new BackOff({ firstMs: FIRST_PAUSE_MS, longestMs: LONGEST_PAUSE_MS });
  #going: Promise<void> | undefined;
  #version: string | undefined;
  #hasListed = false;
  /** Ends the current watch or pause. */
  #restart = new AbortController();

  constructor(options: InformerOptions<T>) {
    this.#options = options;
    const message = `could not watch ${options.kind} objects in the namespace ${options.namespace}; will retry`;
    this.#failure = new RepeatedFailure({ log: options.log, message });
  }

  /** Whether the objects have been listed at least once. */
  get hasListed(): boolean {
    return this.#hasListed;
  }

  start(): void {
    this.#going = this.#run();
  }

  /** Watches again at once: the connection of the current watch may be dead, or a pause is no longer useful. */
  restart(): void {
    this.#restart.abort();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#going;
  }

  async #run(): Promise<void> {
    const { signal: stop } = this.#stop;
    while (!stop.aborted) {
      this.#restart = new AbortController();
      const signal = AbortSignal.any([stop, this.#restart.signal]);
      try {
        if (this.#version === undefined) await this.#list();
        await this.#follow(signal);
      } catch (error) {
        if (stop.aborted) return;
        // the resource version may have expired: the objects must be listed again
        if (error instanceof KubernetesError) this.#version = undefined;
        this.#failure.failed(error);
        await this.#backOff.wait(signal);
      }
    }
  }

  async #list(): Promise<void> {
    const { api, kind, namespace, selector, onChange } = this.#options;
    const found = new Map<string, T>();
    let next: string | undefined;
    let version = "";
    do {
      const query = { labelSelector: selector, limit: "500", ...(next !== undefined && { continue: next }) };
      const page = await api.call<{ metadata: { resourceVersion: string; continue?: string }; items: T[] }>(
        "GET",
        objectPath(kind, namespace),
        { query, signal: this.#stop.signal },
      );
      for (const object of page.items) found.set(object.metadata.name, { ...object, kind });
      version = page.metadata.resourceVersion;
      next = page.metadata.continue === "" ? undefined : page.metadata.continue;
    } while (next !== undefined);
    const gone = [...this.objects].filter(([name]) => !found.has(name));
    const changed = [...found].filter(
      ([name, object]) => this.objects.get(name)?.metadata.resourceVersion !== object.metadata.resourceVersion,
    );
    for (const [name] of gone) this.objects.delete(name);
    for (const [name, object] of changed) this.objects.set(name, object);
    this.#version = version;
    this.#hasListed = true;
    for (const [, object] of gone) onChange(object, true);
    for (const [, object] of changed) onChange(object, false);
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { api, kind, namespace, selector } = this.#options;
    const query = {
      watch: "true",
      labelSelector: selector,
      resourceVersion: this.#version!,
      allowWatchBookmarks: "true",
      timeoutSeconds: String(WATCH_SECONDS),
    };
    const response = await api.open("GET", objectPath(kind, namespace), { query, signal });
    this.#failure.succeeded();
    this.#backOff.reset();
    for await (const line of readLines(response)) {
      if (line === "") continue;
      const event = JSON.parse(line) as WatchEvent<T>;
      if (event.type === "ERROR") throw new KubernetesError(event.object.code ?? 500, "Expired", "the watch has ended");
      this.#apply(event);
    }
  }

  #apply({ type, object }: WatchEvent<T>): void {
    const { kind, onChange } = this.#options;
    this.#version = object.metadata.resourceVersion;
    if (type === "BOOKMARK") return;
    const { name } = object.metadata;
    if (type === "DELETED") this.objects.delete(name);
    else this.objects.set(name, { ...object, kind });
    onChange({ ...object, kind }, type === "DELETED");
  }
}
