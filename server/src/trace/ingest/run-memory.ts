import { ownText } from "../../base/own-text.ts";
import { type Model, modelKey } from "../prices/model-prices.ts";

/** Facts about a model call that decide whether its usage is counted. */
export interface CallFacts {
  parentId: string | undefined;
  isModel: boolean | undefined;
  usage: { prompt: number; completion: number; hasCost: boolean } | undefined;
  /** Its usage is that of calls within it, or of the one around it. */
  repeats: { below: boolean; above: boolean };
}

export const newCall = (): CallFacts => ({
  parentId: undefined,
  isModel: undefined,
  usage: undefined,
  repeats: { below: false, above: false },
});

/** Cached facts about a run, so that its next piece needs no query. */
export interface KnownRun {
  project_id: string;
  start_time: string;
  trace_id: string;
  /** Keys of its `extra`; undefined when unknown, as after a restart. */
  shape: Shape | undefined;
  model: Model | undefined;
  /**
   * Bit mask of the fields set by updates (patched-fields.ts): a later create does not overwrite them. Undefined when it
   * must be looked up, as after a restart.
   */
  patched: number | undefined;
  call: CallFacts;
}

/** Keys of an `extra` and of its metadata. Most runs share theirs with many others, so equal shapes are one object. */
export interface Shape {
  keys: ReadonlySet<string>;
  metadata: ReadonlySet<string>;
}

export const NO_SHAPE: Shape = { keys: new Set(), metadata: new Set() };

const MAX_RUNS = 50_000;
/** Characters of the names of a shape, and of all shapes. */
const MAX_SHAPE = 16_384;
const MAX_SHAPES_BYTES = 2 * 1024 * 1024;
const MAX_MODELS = 5000;
/** Callers whose calls are remembered, and calls of each. */
const MAX_CALLERS = 5000;
const MAX_CALLS = 100;
const NO_CALLS: ReadonlySet<string> = new Set();

/** Cache of runs, a few hundred bytes each. Evicts the oldest first. */
export class RunMemory {
  readonly #runs = new Map<string, KnownRun>();
  readonly #shapes = new Map<string, Shape>();
  #shapeBytes = 0;
  readonly #models = new Map<string, Model>();

  readonly #callsWithin = new Map<string, Set<string>>();

  get(tenantId: string, id: string): KnownRun | undefined {
    return this.#runs.get(tenantId + id);
  }

  set(tenantId: string, id: string, run: KnownRun): void {
    const { project_id, start_time, trace_id } = run;
    Object.assign(run, {
      project_id: ownText(project_id),
      start_time: ownText(start_time),
      trace_id: ownText(trace_id),
    });
    this.#runs.set(ownText(tenantId + id), run);
    if (this.#runs.size > MAX_RUNS) this.#runs.delete(this.#runs.keys().next().value!);
  }

  forget(tenantId: string, id: string): void {
    this.#runs.delete(tenantId + id);
  }

  clear(): void {
    this.#runs.clear();
  }

  /** Returns the model calls directly within a run. */
  callsWithin(tenantId: string, id: string): ReadonlySet<string> {
    return this.#callsWithin.get(tenantId + id) ?? NO_CALLS;
  }

  /** Notes a model call directly within a run, which need not be known itself. */
  addCallWithin(tenantId: string, id: string, callId: string): void {
    const key = tenantId + id;
    const known = this.#callsWithin.get(key) ?? new Set();
    this.#callsWithin.delete(key);
    this.#callsWithin.set(key, known);
    if (known.size < MAX_CALLS) known.add(callId);
    if (this.#callsWithin.size > MAX_CALLERS) this.#callsWithin.delete(this.#callsWithin.keys().next().value!);
  }

  /** @returns undefined for an extra with more names than are worth remembering */
  internShape(extra: Record<string, unknown>, metadata: Record<string, unknown>): Shape | undefined {
    const names = [Object.keys(extra), Object.keys(metadata)] as const;
    const key = JSON.stringify(names);
    if (key.length > MAX_SHAPE) return undefined;
    const known = this.#shapes.get(key);
    if (known) return known;
    this.#shapeBytes += key.length;
    if (this.#shapeBytes > MAX_SHAPES_BYTES) {
      this.#shapes.clear();
      this.#shapeBytes = key.length;
    }
    const [keys, inMetadata] = JSON.parse(key) as [string[], string[]];
    const shape = { keys: new Set(keys), metadata: new Set(inMetadata) };
    this.#shapes.set(key, shape);
    return shape;
  }

  internModel(model: Model): Model {
    const key = modelKey(model);
    const known = this.#models.get(key);
    if (known) return known;
    if (this.#models.size >= MAX_MODELS) this.#models.clear();
    this.#models.set(key, model);
    return model;
  }
}

/** Whether a shape has every key of another. */
export const covers = (shape: Shape, other: Shape): boolean =>
  shape === other || (isSuperset(shape.keys, other.keys) && isSuperset(shape.metadata, other.metadata));

function isSuperset(set: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  for (const text of other) if (!set.has(text)) return false;
  return true;
}
