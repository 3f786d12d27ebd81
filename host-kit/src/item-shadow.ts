/**
 * Copy of what decides an item's JSON text: a node of a plain object, an array or a LangChain message, or a primitive.
 * It shares no object with the item, so that a later change of the item is detected.
 */
export type Shadow = Primitive | ShadowNode;

type Primitive = string | number | boolean | null | undefined;

interface ShadowNode {
  prototype: object | null;
  /** Own keys; undefined for an array. */
  keys: string[] | undefined;
  values: Shadow[];
}

/** Marks a value whose text may change without a visible change of its properties. */
export const UNTRACKABLE = Symbol("untrackable");

/**
 * Copies a value. Returns `UNTRACKABLE` for anything but plain JSON values and LangChain messages whose class leaves
 * serialization to the library: class instances may compute their text from private state.
 */
export function shadowOf(value: unknown, depth = 0): Shadow | typeof UNTRACKABLE {
  if (typeof value !== "object" || value === null) return isPrimitive(value) ? value : UNTRACKABLE;
  if (depth > MAX_DEPTH) return UNTRACKABLE;
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (Array.isArray(value)) {
    if (prototype !== Array.prototype || Object.keys(value).length !== value.length) return UNTRACKABLE;
    const values = Array.from<Shadow>({ length: value.length });
    for (let i = 0; i < value.length; i++) {
      const item = shadowOf(value[i], depth + 1);
      if (item === UNTRACKABLE) return UNTRACKABLE;
      values[i] = item;
    }
    return { prototype, keys: undefined, values };
  }
  if (prototype !== Object.prototype && prototype !== null && !isMessageClass(prototype)) return UNTRACKABLE;
  const keys = Object.keys(value);
  const values = Array.from<Shadow>({ length: keys.length });
  for (let i = 0; i < keys.length; i++) {
    const descriptor = Object.getOwnPropertyDescriptor(value, keys[i]!)!;
    if (descriptor.get || keys[i] === "toJSON") return UNTRACKABLE;
    const field = shadowOf(descriptor.value, depth + 1);
    if (field === UNTRACKABLE) return UNTRACKABLE;
    values[i] = field;
  }
  return { prototype, keys, values };
}

/** Whether a value still equals the shadow that was taken of it. */
export function isUnchanged(value: unknown, shadow: Shadow): boolean {
  if (value === shadow) return true;
  if (typeof value !== "object" || value === null || typeof shadow !== "object" || shadow === null) {
    return Object.is(value, shadow);
  }
  if (Object.getPrototypeOf(value) !== shadow.prototype) return false;
  const { keys, values } = shadow;
  if (keys === undefined) {
    const array = value as unknown[];
    if (array.length !== values.length) return false;
    for (let i = 0; i < values.length; i++) {
      if (array[i] !== values[i] && !isUnchanged(array[i], values[i])) return false;
    }
    return true;
  }
  let at = 0;
  for (const key in value) {
    // keys come in the order of their creation, which the text has too
    if (key !== keys[at]) {
      if (!Object.hasOwn(value, key)) continue;
      return false;
    }
    const field = (value as Record<string, unknown>)[key];
    if (field !== values[at] && !isUnchanged(field, values[at])) return false;
    at += 1;
  }
  return at === keys.length;
}

/** Values nested more deeply are serialized each time. */
const MAX_DEPTH = 32;

function isPrimitive(value: unknown): value is Primitive {
  return value === null || ["string", "number", "boolean", "undefined"].includes(typeof value);
}

const messageClasses = new WeakMap<object, boolean>();

/**
 * Whether instances of a class are LangChain messages that the library's own `toJSON` serializes, which reads only
 * their properties. That method is recognized by its neighbour in the library's base class.
 */
function isMessageClass(prototype: object): boolean {
  const known = messageClasses.get(prototype);
  if (known !== undefined) return known;
  let isMessage = false;
  for (let level: object | null = prototype; level; level = Object.getPrototypeOf(level) as object | null) {
    if (!Object.hasOwn(level, "toJSON")) continue;
    isMessage = Object.hasOwn(level, "toJSONNotImplemented") && "_getType" in prototype;
    break;
  }
  messageClasses.set(prototype, isMessage);
  return isMessage;
}
