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
  readonly #messageClasses: Ts.ClassDeclaration[];
  /** Definitions that the schema being converted refers to. */
  #definitions: Record<string, JsonSchema> = {};

  /**
   * @param messages schema of a list of messages, which clients recognize
   * @param messageClasses classes that LangGraph's server lists as kinds of message
   */
  constructor(ts: typeof Ts, checker: Ts.TypeChecker, messages: JsonSchema, messageClasses: Ts.ClassDeclaration[]) {
    this.#ts = ts;
    this.#checker = checker;
    this.#messages = messages;
    this.#messageClasses = messageClasses;
  }

  /** The schema of a whole state: `fields`, with the definitions that it refers to. */
  root(properties: readonly Ts.Symbol[], typeOf: (property: Ts.Symbol) => Ts.Type | undefined): JsonSchema {
    this.#definitions = {};
    const schema = this.fields(properties, typeOf);
    return Object.keys(this.#definitions).length > 0 ? { ...schema, definitions: this.#definitions } : schema;
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
    for (const type of kept) {
      const message = this.#listedMessage(type);
      if (message) return this.#messageList(message);
    }
    if (kept.length > MAX_MEMBERS) return {};
    const isText = (type: Ts.Type) => type.isStringLiteral();
    // in the order of LangGraph's server; the compiler's depends on what else it has seen
    const texts = kept
      .filter(isText)
      .map((type) => (type as Ts.StringLiteralType).value)
      .toSorted();
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
    const listed = this.#listedMessage(type);
    if (listed) return this.#messageList(listed);
    const message = this.#baseMessage(type);
    if (message) return this.#messageReference(message);
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
      converted[property.name] = { ...this.convert(type, depth + 1), ...this.#documentation(property) };
      const isOptional = (property.flags & this.#ts.SymbolFlags.Optional) !== 0;
      const mayLack = type.isUnion() && type.types.some((each) => each.flags & this.#ts.TypeFlags.Undefined);
      if (!isOptional && !mayLack) required.push(property.name);
    }
    return { type: "object", properties: converted, ...(required.length > 0 && { required }) };
  }

  /** Returns the base class of the messages of a list; undefined for other types. */
  #listedMessage(type: Ts.Type): Ts.Type | undefined {
    if (!this.#checker.isArrayType(type)) return undefined;
    const [item] = this.#checker.getTypeArguments(type as Ts.TypeReference);
    for (const each of item?.isUnion() ? item.types : item ? [item] : []) {
      const message = this.#baseMessage(each);
      if (message) return message;
    }
    return undefined;
  }

  #baseMessage(type: Ts.Type, depth = 0): Ts.Type | undefined {
    if (type.symbol?.name === "BaseMessage") return type;
    if (depth === 4) return undefined;
    for (const base of type.getBaseTypes() ?? []) {
      const message = this.#baseMessage(base, depth + 1);
      if (message) return message;
    }
    return undefined;
  }

  #messageList(message: Ts.Type): JsonSchema {
    return { ...this.#messages, items: this.#messageReference(message) };
  }

  /** Defines a message under its name in LangGraph's server, with what a client must know of it. */
  #messageReference(message: Ts.Type): JsonSchema {
    const { NoTruncation } = this.#ts.TypeFormatFlags;
    const name = this.#checker.typeToString(message, undefined, NoTruncation).replaceAll(/\s/g, "");
    if (!(name in this.#definitions)) {
      const kinds = this.#messageClasses.map((node) => [node.name!.text, this.#describe(node)] as const);
      const definition = { ...(this.#messages["items"] as JsonSchema), ...this.#documentation(message.symbol) };
      const oneOf = kinds.map(([kind]) => ({ $ref: `#/definitions/${kind}` }));
      // a kind accepts any message, whose fields are beside it, so several would contradict each other
      Object.assign(this.#definitions, Object.fromEntries(kinds), {
        [name]: oneOf.length === 1 ? { ...definition, oneOf } : definition,
      });
    }
    return { $ref: `#/definitions/${name}` };
  }

  #describe(node: Ts.ClassDeclaration): JsonSchema {
    const symbol = this.#checker.getSymbolAtLocation(node.name!);
    return { type: "object", ...(symbol && this.#documentation(symbol)) };
  }

  #documentation(symbol: Ts.Symbol): { description?: string } {
    const text = this.#ts.displayPartsToString(symbol.getDocumentationComment(this.#checker));
    return text ? { description: text } : {};
  }
}
