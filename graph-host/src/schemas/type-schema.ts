import type * as Ts from "typescript";

export type JsonSchema = Record<string, unknown>;

/** Nesting at which a type becomes "anything", as recursive types must. */
const MAX_DEPTH = 6;
/** Types with more properties or members than this are "anything": they are not meant to be filled in. */
const MAX_MEMBERS = 60;

/** Converts types of a program to JSON Schema. An unknown or unsupported type is `{}`: anything. */
export class TypeSchemas {
  readonly #ts: typeof Ts;
  readonly #checker: Ts.TypeChecker;
  readonly #messages: JsonSchema;

  /** @param messages schema of a list of messages, which clients recognize */
  constructor(ts: typeof Ts, checker: Ts.TypeChecker, messages: JsonSchema) {
    this.#ts = ts;
    this.#checker = checker;
    this.#messages = messages;
  }

  convert(type: Ts.Type, depth = 0): JsonSchema {
    const { TypeFlags } = this.#ts;
    const { flags } = type;
    if (depth > MAX_DEPTH || flags & (TypeFlags.Any | TypeFlags.Unknown | TypeFlags.Never)) return {};
    if (type.isUnion()) return this.#union(type.types, depth);
    if (type.isStringLiteral() || type.isNumberLiteral()) return { type: typeof type.value, const: type.value };
    if (flags & TypeFlags.BooleanLiteral)
      return { type: "boolean", const: this.#checker.typeToString(type) === "true" };
    if (flags & TypeFlags.StringLike) return { type: "string" };
    if (flags & TypeFlags.NumberLike) return { type: "number" };
    if (flags & TypeFlags.BooleanLike) return { type: "boolean" };
    if (flags & TypeFlags.Null) return { type: "null" };
    if (flags & (TypeFlags.Object | TypeFlags.Intersection)) return this.#object(type, depth);
    return {};
  }

  #union(types: Ts.Type[], depth: number): JsonSchema {
    const { TypeFlags } = this.#ts;
    const kept = types.filter((type) => !(type.flags & TypeFlags.Undefined) && !this.#isControl(type));
    if (kept.some((type) => this.#isMessageList(type))) return this.#messages;
    if (kept.length > MAX_MEMBERS) return {};
    const isText = (type: Ts.Type) => type.isStringLiteral();
    const texts = kept.filter(isText).map((type) => (type as Ts.StringLiteralType).value);
    // null comes last, as a form's first option is the usual one
    const isNull = (type: Ts.Type) => (type.flags & TypeFlags.Null) !== 0;
    const others = kept.filter((type) => !isText(type));
    const schemas = new Map<string, JsonSchema>();
    if (texts.length > 0) {
      const text = texts.length === 1 ? { type: "string", const: texts[0] } : { type: "string", enum: texts };
      schemas.set(JSON.stringify(text), text);
    }
    for (const type of [...others.filter((each) => !isNull(each)), ...others.filter(isNull)]) {
      // true | false
      const schema = type.flags & TypeFlags.BooleanLiteral ? { type: "boolean" } : this.convert(type, depth + 1);
      schemas.set(JSON.stringify(schema), schema);
    }
    if (schemas.has("{}")) return {};
    const options = [...schemas.values()];
    return options.length === 1 ? options[0]! : { anyOf: options };
  }

  /** Whether the type is a directive to LangGraph, such as an overwrite, rather than a value. */
  #isControl(type: Ts.Type): boolean {
    return ["__overwrite__", "lg_name"].some((name) => type.getProperty(name) !== undefined);
  }

  #object(type: Ts.Type, depth: number): JsonSchema {
    const checker = this.#checker;
    if (this.#isMessageList(type)) return this.#messages;
    if (this.#isMessage(type)) return this.#messages["items"] as JsonSchema;
    if (checker.isTupleType(type)) {
      const items = checker.getTypeArguments(type as Ts.TypeReference).map((item) => this.convert(item, depth + 1));
      return { type: "array", items, minItems: items.length, maxItems: items.length };
    }
    if (checker.isArrayType(type)) {
      const [item] = checker.getTypeArguments(type as Ts.TypeReference);
      return { type: "array", items: item ? this.convert(item, depth + 1) : {} };
    }
    if (type.getCallSignatures().length > 0) return {};
    const name = type.symbol?.name;
    if (name === "Date") return { type: "string", format: "date-time" };
    if (["Map", "Set", "Uint8Array", "Promise"].includes(name ?? "")) return {};
    const properties = type.getProperties();
    const index = type.getStringIndexType();
    if (properties.length > MAX_MEMBERS) return { type: "object" };
    return {
      ...this.fields(properties, (property) => checker.getTypeOfSymbol(property), depth),
      ...(index && { additionalProperties: this.convert(index, depth + 1) }),
    };
  }

  /** An object with these properties. `typeOf`: the type of each; undefined leaves the property out. */
  fields(
    properties: readonly Ts.Symbol[],
    typeOf: (property: Ts.Symbol) => Ts.Type | undefined,
    depth = 0,
  ): JsonSchema {
    const converted: Record<string, JsonSchema> = {};
    const required: string[] = [];
    for (const property of properties) {
      const type = typeOf(property);
      // methods are not data
      if (!type || property.name.startsWith("__") || type.getCallSignatures().length > 0) continue;
      const text = this.#ts.displayPartsToString(property.getDocumentationComment(this.#checker));
      converted[property.name] = { ...this.convert(type, depth + 1), ...(text && { description: text }) };
      const isOptional = (property.flags & this.#ts.SymbolFlags.Optional) !== 0;
      const mayLack = type.isUnion() && type.types.some((each) => each.flags & this.#ts.TypeFlags.Undefined);
      if (!isOptional && !mayLack) required.push(property.name);
    }
    return { type: "object", properties: converted, ...(required.length > 0 && { required }) };
  }

  #isMessageList(type: Ts.Type): boolean {
    if (!this.#checker.isArrayType(type)) return false;
    const [item] = this.#checker.getTypeArguments(type as Ts.TypeReference);
    return item !== undefined && (item.isUnion() ? item.types : [item]).some((each) => this.#isMessage(each));
  }

  #isMessage(type: Ts.Type, depth = 0): boolean {
    if (type.symbol?.name === "BaseMessage") return true;
    return depth < 4 && (type.getBaseTypes() ?? []).some((base) => this.#isMessage(base, depth + 1));
  }
}
