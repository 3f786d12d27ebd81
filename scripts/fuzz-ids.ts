/** Input of the fuzzer besides the document: ids of existing resources. */

type Json = Record<string, unknown>;
interface Document {
  paths: Record<string, Record<string, { parameters?: { name: string; schema: Json }[] }>>;
  components: { schemas: Record<string, Json> };
}

/** Keyed by the name of a parameter or property: `thread_id` → ids of threads. */
export type RealIds = Record<string, string[]>;

/** Content types that the fuzzer can generate: it sends arbitrary bytes in place of archives. */
const sendable = (content: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(content).map(([type, body]) => [
      type === "application/gzip" ? "application/octet-stream" : type,
      body,
    ]),
  );

/** Returns the document with the ids offered to parameters and properties of these names, besides their schema. */
export function withRealIds(document: Document, ids: RealIds): Document {
  const copy = structuredClone(document);
  const offered = (name: string, schema: Json): Json => {
    const real = ids[name];
    return real && real.length > 0 ? { anyOf: [{ enum: real }, schema] } : schema;
  };
  for (const operations of Object.values(copy.paths)) {
    for (const operation of Object.values(operations)) {
      for (const parameter of operation.parameters ?? []) parameter.schema = offered(parameter.name, parameter.schema);
      const { requestBody } = operation as { requestBody?: { content?: Record<string, unknown> } };
      if (requestBody?.content) requestBody.content = sendable(requestBody.content);
      walk(requestBody);
    }
  }
  walk(copy.components.schemas);
  return copy;

  function walk(node: unknown): void {
    if (node === null || typeof node !== "object") return;
    const { properties } = node as { properties?: Record<string, Json> };
    if (properties && typeof properties === "object" && !("$ref" in properties)) {
      for (const [name, schema] of Object.entries(properties)) {
        // a reference is more specific than ids, and a null default must remain null
        if (schema !== null && typeof schema === "object" && !("$ref" in schema))
          properties[name] = offered(name, schema);
      }
    }
    for (const value of Object.values(node)) walk(value);
  }
}
