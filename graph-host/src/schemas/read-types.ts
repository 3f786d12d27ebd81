/**
 * Reads the types of a graph's state from its source, for states that are declared by types alone (`Annotation`): at run
 * time nothing is left of them. Nothing is executed; the project's own TypeScript checks its files.
 */
import { dirname, join } from "node:path";

import type * as Ts from "typescript";

import { type JsonSchema, TypeSchemas } from "./type-schema.ts";

/** Schemas of one graph; absent where its source does not tell. */
export interface TypedSchemas {
  state?: JsonSchema;
  input?: JsonSchema;
  output?: JsonSchema;
  config?: JsonSchema;
}

export interface TypesOfGraph {
  /** Keyed by namespace: `""` for the graph itself, then its subgraphs, nested ones joined by `|`. */
  schemas: Record<string, TypedSchemas>;
  /** Files of the project that they depend on. */
  files: string[];
}

const MAX_SUBGRAPH_DEPTH = 5;

/** Parsed files of earlier programs, by the options that they were parsed with. Most are of the same libraries. */
export type ParsedFiles = Map<string, Map<string, Ts.SourceFile>>;

export function readTypes(
  ts: typeof Ts,
  file: string,
  exportName: string,
  messages: JsonSchema,
  parsed: ParsedFiles = new Map(),
): TypesOfGraph {
  const options = compilerOptions(ts, file);
  const program = ts.createProgram([file], options, sharingHost(ts, options, parsed));
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const files = program
    .getSourceFiles()
    .map(({ fileName }) => fileName)
    .filter(
      (name) => !name.includes("/node_modules/") && !program.isSourceFileDefaultLibrary(program.getSourceFile(name)!),
    );
  const module = source && checker.getSymbolAtLocation(source);
  const exported = module && checker.getExportsOfModule(module).find(({ name }) => name === exportName);
  if (!exported) return { schemas: {}, files };
  const reader = new GraphReader(ts, checker, new TypeSchemas(ts, checker, messages, messageClasses(ts, program)));
  const symbol = resolveAlias(ts, checker, exported);
  reader.read("", checker.getTypeOfSymbolAtLocation(symbol, source), symbol.declarations ?? []);
  return { schemas: reader.schemas, files };
}

/** Classes of @langchain/core that extend its base class of messages without their own type parameters. */
function messageClasses(ts: typeof Ts, program: Ts.Program): Ts.ClassDeclaration[] {
  const extendsBase = (node: Ts.ClassDeclaration) =>
    node.heritageClauses?.some(({ types }) => types.some(({ expression }) => expression.getText() === "BaseMessage"));
  return program
    .getSourceFiles()
    .filter(({ fileName }) => fileName.includes("/@langchain/core/dist/messages/"))
    .flatMap(({ statements }) => statements.filter(ts.isClassDeclaration))
    .filter((node) => !node.typeParameters && extendsBase(node));
}

/** Compiler host that parses each file once; a parsed file also keeps its symbols. */
function sharingHost(ts: typeof Ts, options: Ts.CompilerOptions, parsed: ParsedFiles): Ts.CompilerHost {
  const host = ts.createCompilerHost(options);
  const key = JSON.stringify(options);
  const files = parsed.get(key) ?? new Map<string, Ts.SourceFile>();
  parsed.set(key, files);
  return {
    ...host,
    getSourceFile(name, ...rest) {
      const known = files.get(name) ?? host.getSourceFile(name, ...rest);
      if (known) files.set(name, known);
      return known;
    },
  };
}

function compilerOptions(ts: typeof Ts, file: string): Ts.CompilerOptions {
  const path = ts.findConfigFile(dirname(file), (name) => ts.sys.fileExists(name));
  const config = path ? ts.readConfigFile(path, (name) => ts.sys.readFile(name)).config : undefined;
  const own = path ? ts.parseJsonConfigFileContent(config, ts.sys, dirname(path)).options : {};
  return {
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    target: ts.ScriptTarget.ES2022,
    strict: true,
    allowJs: true,
    ...own,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
    composite: false,
    incremental: false,
    declaration: false,
    // reads package.json, and so the types of the project's own copy of LangGraph
    baseUrl: own.baseUrl ?? (path ? undefined : join(dirname(file))),
  } as Ts.CompilerOptions;
}

function resolveAlias(ts: typeof Ts, checker: Ts.TypeChecker, symbol: Ts.Symbol): Ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

class GraphReader {
  readonly schemas: Record<string, TypedSchemas> = {};
  readonly #ts: typeof Ts;
  readonly #checker: Ts.TypeChecker;
  readonly #types: TypeSchemas;

  constructor(ts: typeof Ts, checker: Ts.TypeChecker, types: TypeSchemas) {
    this.#ts = ts;
    this.#checker = checker;
    this.#types = types;
  }

  /** @param sources code that makes the graph: its declarations, or an expression */
  read(namespace: string, type: Ts.Type, sources: readonly Ts.Node[], depth = 0): void {
    const builder = this.#builder(type);
    if (!builder) return;
    this.schemas[namespace] = this.#describe(builder);
    if (depth >= MAX_SUBGRAPH_DEPTH) return;
    const seen = new Set<Ts.Symbol>();
    for (const source of sources) {
      this.#visit(source, seen, (name, node) => {
        const path = namespace === "" ? name : `${namespace}|${name}`;
        const subgraph = path in this.schemas ? undefined : this.#graphIn(node);
        if (subgraph) this.read(path, this.#checker.getTypeAtLocation(subgraph), [subgraph], depth + 1);
      });
    }
  }

  /** The StateGraph behind an exported value: a graph, a promise or factory of one, an agent. */
  #builder(type: Ts.Type | undefined, depth = 0): Ts.Type | undefined {
    if (!type || depth > 4) return undefined;
    if (type.getProperty("_inputDefinition")) return type;
    for (const name of ["builder", "graph"]) {
      const property = type.getProperty(name);
      if (property) return this.#builder(this.#checker.getTypeOfSymbol(property), depth + 1);
    }
    const awaited = this.#checker.getAwaitedType(type);
    if (awaited && awaited !== type) return this.#builder(awaited, depth + 1);
    return this.#builder(type.getCallSignatures()[0]?.getReturnType(), depth + 1);
  }

  #describe(builder: Ts.Type): TypedSchemas {
    const input = this.#fromChannels(builder, "_inputDefinition", "UpdateType");
    const output = this.#fromChannels(builder, "_outputDefinition", "ValueType");
    const config = this.#fromChannels(builder, "_configSchema", "UpdateType");
    const update = this.#typeArgument(builder, "U");
    const state = update && this.#fromObject(update);
    return { ...(state && { state }), ...(input && { input }), ...(output && { output }), ...(config && { config }) };
  }

  /** Schema of a definition: an object of channels. Undefined for any other, such as one in zod. */
  #fromChannels(builder: Ts.Type, property: string, field: "UpdateType" | "ValueType"): JsonSchema | undefined {
    const symbol = builder.getProperty(property);
    const declared = symbol && this.#checker.getNonNullableType(this.#checker.getTypeOfSymbol(symbol));
    const spec = declared?.getProperty("spec");
    const definition = spec ? this.#checker.getTypeOfSymbol(spec) : declared;
    const channels = definition?.getProperties() ?? [];
    if (channels.length === 0) return undefined;
    const types = new Map<Ts.Symbol, Ts.Type>();
    for (const channel of channels) {
      const type = this.#checker.getTypeOfSymbol(channel);
      const held = (type.getCallSignatures()[0]?.getReturnType() ?? type).getProperty(field);
      if (!held) return undefined;
      types.set(channel, this.#checker.getTypeOfSymbol(held));
    }
    const schema = this.#types.root(channels, (channel) => types.get(channel));
    return field === "UpdateType" ? withoutRequired(schema) : schema;
  }

  #fromObject(type: Ts.Type): JsonSchema | undefined {
    const properties = type.getProperties();
    if (properties.length === 0) return undefined;
    return withoutRequired(this.#types.root(properties, (property) => this.#checker.getTypeOfSymbol(property)));
  }

  #typeArgument(type: Ts.Type, name: string): Ts.Type | undefined {
    const { target } = type as Partial<Ts.TypeReference>;
    const index = target?.typeParameters?.findIndex(({ symbol }) => symbol.name === name) ?? -1;
    return index === -1 ? undefined : this.#checker.getTypeArguments(type as Ts.TypeReference)[index];
  }

  /** Finds the nodes that code adds to a graph, and follows the names of builders to where they are made. */
  #visit(node: Ts.Node, seen: Set<Ts.Symbol>, found: (name: string, node: Ts.Node) => void): void {
    const ts = this.#ts;
    if (isAddNode(ts, node)) {
      for (const [name, value] of addedNodes(ts, node)) found(name, value);
      this.#visit(node.expression, seen, found);
      return;
    }
    if (ts.isIdentifier(node)) this.#follow(node, seen, found);
    ts.forEachChild(node, (child) => this.#visit(child, seen, found));
  }

  #follow(name: Ts.Identifier, seen: Set<Ts.Symbol>, found: (name: string, node: Ts.Node) => void): void {
    const ts = this.#ts;
    const symbol = this.#symbolOf(name);
    if (!symbol || seen.has(symbol) || !this.#builder(this.#checker.getTypeAtLocation(name))) return;
    seen.add(symbol);
    for (const declaration of symbol.declarations ?? []) {
      const source = declaration.getSourceFile();
      if (source.isDeclarationFile) continue;
      this.#visit(declaration, seen, found);
      // builder.addNode(…) in its own statements
      const search = (node: Ts.Node): void => {
        if (isAddNode(ts, node) && this.#isOf(symbol, node)) {
          for (const [added, value] of addedNodes(ts, node)) found(added, value);
        }
        ts.forEachChild(node, search);
      };
      search(source);
    }
  }

  #symbolOf(name: Ts.Identifier): Ts.Symbol | undefined {
    const symbol = this.#checker.getSymbolAtLocation(name);
    return symbol && resolveAlias(this.#ts, this.#checker, symbol);
  }

  /** Whether a chain of calls begins with the name of a symbol. */
  #isOf(symbol: Ts.Symbol, call: Ts.Node): boolean {
    const ts = this.#ts;
    let start = call;
    while (ts.isCallExpression(start) || ts.isPropertyAccessExpression(start)) start = start.expression;
    return ts.isIdentifier(start) && this.#symbolOf(start) === symbol;
  }

  /** Returns the expression of a graph or its builder: the node itself, or the first within a function. */
  #graphIn(node: Ts.Node): Ts.Node | undefined {
    const ts = this.#ts;
    const type = ts.isExpression(node) ? this.#checker.getTypeAtLocation(node) : undefined;
    if (type?.getProperty("_inputDefinition") || (type?.getProperty("builder") && type.getProperty("invoke")))
      return node;
    let inner: Ts.Node | undefined;
    ts.forEachChild(node, (child) => void (inner ??= this.#graphIn(child)));
    return inner;
  }
}

function isAddNode(ts: typeof Ts, node: Ts.Node): node is Ts.CallExpression {
  return (
    ts.isCallExpression(node) &&
    ts.isPropertyAccessExpression(node.expression) &&
    node.expression.name.text === "addNode"
  );
}

/** Nodes of `addNode("name", node)`, `addNode({ name: node })` and `addNode([["name", node]])`. */
function addedNodes(ts: typeof Ts, { arguments: [first, second] }: Ts.CallExpression): [name: string, node: Ts.Node][] {
  if (!first) return [];
  if (ts.isStringLiteralLike(first)) return second ? [[first.text, second]] : [];
  if (ts.isObjectLiteralExpression(first)) {
    return first.properties.flatMap((property): [string, Ts.Node][] => {
      if (ts.isShorthandPropertyAssignment(property)) return [[property.name.text, property.name]];
      const isNamed = ts.isPropertyAssignment(property) && !ts.isComputedPropertyName(property.name);
      return isNamed ? [[property.name.text, property.initializer]] : [];
    });
  }
  if (!ts.isArrayLiteralExpression(first)) return [];
  return first.elements.flatMap((element): [string, Ts.Node][] => {
    const [name, node] = ts.isArrayLiteralExpression(element) ? element.elements : [];
    return name && node && ts.isStringLiteralLike(name) ? [[name.text, node]] : [];
  });
}

/** Every field of an update is optional. */
function withoutRequired({ required: _, ...schema }: JsonSchema): JsonSchema {
  return schema;
}
