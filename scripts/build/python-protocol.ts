/**
 * Generates the Python types of the host protocol's frames from host-kit/src/host-protocol.ts:
 *
 *     node --import tsx scripts/build/python-protocol.ts [--write]
 *
 * Without `--write` it exits with 1 when the committed file differs.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import ts from "typescript";

import { writeOrCompare } from "./generated-file.ts";

const path = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const SOURCE = "host-kit/src/host-protocol.ts";
const TARGET = path("graph-host-python/heddle_host/frames.py");
/** Unions of frames; what they refer to is generated too. */
const ROOTS = ["ServerFrame", "HostFrame"];
/** Lines of Python are no longer. */
const WIDTH = 120;

const file = ts.createSourceFile(SOURCE, readFileSync(path(SOURCE), "utf8"), ts.ScriptTarget.Latest, true);
const declarations = new Map<string, ts.InterfaceDeclaration | ts.TypeAliasDeclaration>();
let version = "";
for (const statement of file.statements) {
  if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement))
    declarations.set(statement.name.text, statement);
  if (!ts.isVariableStatement(statement)) continue;
  for (const { name, initializer } of statement.declarationList.declarations)
    if (name.getText() === "PROTOCOL_VERSION") version = initializer!.getText();
}

/** Definitions in the order in which Python can evaluate them, by name. */
const definitions = new Map<string, string>();

const capitalized = (text: string) => text[0]!.toUpperCase() + text.slice(1);
const pascal = (text: string) => text.split(/[._]/).map(capitalized).join("");

/** Returns the literal by which a member of a union differs from the others. */
function discriminator(members: readonly ts.TypeElement[]): string | undefined {
  for (const member of members) {
    const { type } = member as ts.PropertySignature;
    if (type && ts.isLiteralTypeNode(type)) return type.literal.getText().replaceAll('"', "");
  }
  return undefined;
}

function reject(node: ts.Node): never {
  const { line } = file.getLineAndCharacterOfPosition(node.getStart());
  throw new Error(`${SOURCE}:${line + 1}: there is no Python type for ${node.getText()}`);
}

/** Returns the Python type of a node; `name` is that of a class which it may need. */
function typeOf(node: ts.TypeNode, name: string): string {
  if (ts.isParenthesizedTypeNode(node)) return typeOf(node.type, name);
  if (ts.isArrayTypeNode(node)) return `list[${typeOf(node.elementType, name)}]`;
  if (ts.isTupleTypeNode(node)) {
    const types = node.elements.map((element) => typeOf(ts.isNamedTupleMember(element) ? element.type : element, name));
    return `tuple[${types.join(", ")}]`;
  }
  if (ts.isLiteralTypeNode(node)) {
    if (node.literal.kind === ts.SyntaxKind.NullKeyword) return "None";
    return `Literal[${capitalizedBoolean(node.literal.getText())}]`;
  }
  if (ts.isUnionTypeNode(node)) return unionOf(node, name);
  if (ts.isTypeLiteralNode(node)) return classOf(node.members, name);
  if (ts.isTypeOperatorNode(node) && ts.isTypeReferenceNode(node.type)) {
    const keys = (declarations.get(node.type.getText()) as ts.InterfaceDeclaration).members;
    return `Literal[${keys.map((key) => key.name!.getText()).join(", ")}]`;
  }
  if (ts.isTypeReferenceNode(node)) return referenceOf(node);
  switch (node.kind) {
    case ts.SyntaxKind.StringKeyword:
      return "str";
    case ts.SyntaxKind.NumberKeyword:
      return "int";
    case ts.SyntaxKind.BooleanKeyword:
      return "bool";
    case ts.SyntaxKind.UnknownKeyword:
      return "Any";
    default:
      return reject(node);
  }
}

const capitalizedBoolean = (text: string) => (text === "true" || text === "false" ? capitalized(text) : text);

function unionOf(node: ts.UnionTypeNode, name: string): string {
  const types = node.types.map((type, n) => {
    if (!ts.isTypeLiteralNode(type)) return typeOf(type, name);
    const part = discriminator(type.members) ?? String(n + 1);
    return typeOf(
      type,
      ROOTS.includes(name) || name === "CheckpointFrame" ? `${pascal(part)}Frame` : name + pascal(part),
    );
  });
  const literals = types.flatMap((type) => /^Literal\[(.*)\]$/.exec(type)?.[1] ?? []);
  const others = types.filter((type) => !type.startsWith("Literal["));
  return [...(literals.length > 0 ? [`Literal[${literals.join(", ")}]`] : []), ...others].join(" | ");
}

function referenceOf(node: ts.TypeReferenceNode): string {
  const name = node.typeName.getText();
  if (name === "Record") return `dict[str, ${typeOf(node.typeArguments![1]!, name)}]`;
  const declaration = declarations.get(name) ?? reject(node);
  if (ts.isInterfaceDeclaration(declaration)) return classOf(declaration.members, name);
  if (!definitions.has(name)) {
    const type = typeOf(declaration.type, name);
    definitions.set(name, alias(name, type));
  }
  return name;
}

function alias(name: string, type: string): string {
  const line = `${name}: TypeAlias = ${type}`;
  if (line.length <= WIDTH) return line;
  const parts = type.split(" | ").map((part, n) => (n > 0 ? `    | ${part}` : `    ${part}`));
  return `${name}: TypeAlias = (\n${parts.join("\n")}\n)`;
}

function classOf(members: ts.NodeArray<ts.TypeElement>, name: string): string {
  if (definitions.has(name)) return name;
  const lines = members.map((member) => {
    if (!ts.isPropertySignature(member) || !member.type) return reject(member);
    const key = member.name.getText();
    const type = typeOf(member.type, name + pascal(key));
    return `    ${key}: ${member.questionToken ? `NotRequired[${type}]` : type}`;
  });
  definitions.set(name, `class ${name}(TypedDict):\n${lines.join("\n")}`);
  return name;
}

for (const root of ROOTS) {
  const declaration = declarations.get(root) as ts.TypeAliasDeclaration;
  definitions.set(root, alias(root, typeOf(declaration.type, root)));
}

const text = `"""Frames of the host protocol: generated from ${SOURCE}, which describes them.

\`npm run host-frames\` writes this file.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict

from typing_extensions import NotRequired

PROTOCOL_VERSION = ${version}


${[...definitions.values()].join("\n\n\n")}
`.replaceAll(/(^\w+: TypeAlias[^\n]*|^\))\n\n\n(?=\w+: TypeAlias)/gm, "$1\n");

writeOrCompare(TARGET, text, `${TARGET} is not that of ${SOURCE}. Run: npm run host-frames`);
