import { storable, toJson } from "../serialize.ts";
import type { ListItem } from "../../../host-kit/src/list-item.ts";
import type { PlainFirstSerializer } from "./serializer.ts";

const OBJECT = '{"lc":1,"type":"constructor","id":[';
const KWARGS = '],"kwargs":{';

/** Wire types of message classes by the text of their id; null where the wire form is not the arguments and the type. */
const types = new Map<string, string | null>();

/**
 * Returns an item's JSON text as the API shows it. A message is the arguments of its constructor with its type
 * (`toJson` flattens messages), so it is cut from the stored text once the first message of its class has shown that
 * this is equal; anything else is loaded.
 */
export function wireOf(item: ListItem, serde: PlainFirstSerializer): string | Promise<string> {
  if (item.wire !== undefined) return item.wire;
  const { text } = item;
  const lc = text.indexOf('"lc":');
  if (lc < 0) return (item.wire = storable(text));
  const id = lc === 1 ? messageId(text) : undefined;
  const type = id === undefined ? null : types.get(id);
  if (type) return (item.wire = cut(text, id!, type));
  return load(item, serde, id !== undefined && type === undefined ? id : undefined);
}

async function load(item: ListItem, serde: PlainFirstSerializer, unknownId: string | undefined): Promise<string> {
  const wire = toJson(await serde.load(item.text));
  if (unknownId !== undefined) {
    const { type } = JSON.parse(wire) as { type?: unknown };
    types.set(unknownId, typeof type === "string" && cut(item.text, unknownId, type) === wire ? type : null);
  }
  return (item.wire = wire);
}

/** Returns the id's text of an object whose arguments contain no other object to revive. */
function messageId(text: string): string | undefined {
  if (!text.startsWith(OBJECT) || text.indexOf('"lc":', 2) > 0 || text.includes("__lc_escaped__")) return undefined;
  const end = text.indexOf("]", OBJECT.length);
  return text.startsWith(KWARGS, end) ? text.slice(OBJECT.length, end) : undefined;
}

function cut(text: string, id: string, type: string): string {
  const fields = text.slice(OBJECT.length + id.length + KWARGS.length, -2);
  return storable(`{${fields}${fields === "" ? "" : ","}"type":${JSON.stringify(type)}}`);
}
