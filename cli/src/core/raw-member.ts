/**
 * Returns the JSON text of an object's member as it stands in the object's text, since parsing and serializing it again
 * would change numbers, escapes and spaces. The text must be valid JSON; undefined if the object has no such member.
 */
export function rawMember(object: string, name: string): string | undefined {
  let depth = 0;
  // start of the member's value; 0 outside of it
  let start = 0;
  let key = "";
  let isKey = false;
  for (let at = 0; at < object.length; at++) {
    const char = object[at]!;
    if (char === '"') {
      const end = endOfString(object, at);
      if (depth === 1 && isKey) key = JSON.parse(object.slice(at, end)) as string;
      at = end - 1;
    } else if (char === "{" || char === "[") {
      depth++;
      isKey = depth === 1 && char === "{";
    } else if (depth === 1 && char === ":" && isKey) {
      isKey = false;
      if (key === name) start = at + 1;
    } else if (depth === 1 && (char === "," || char === "}")) {
      if (start > 0) return object.slice(start, at).trim();
      isKey = true;
      if (char === "}") return undefined;
    } else if (char === "}" || char === "]") {
      depth--;
    }
  }
  return undefined;
}

/** Returns the position after the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

/** Returns the JSON texts of a list's elements as they stand in the list's text, which must be valid JSON. */
export function rawElements(list: string): string[] {
  const elements: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < list.length; at++) {
    const char = list[at]!;
    if (char === '"') {
      at = endOfString(list, at) - 1;
    } else if (char === "{" || char === "[") {
      if (++depth === 1) start = at + 1;
    } else if (depth === 1 && (char === "," || char === "]")) {
      const element = list.slice(start, at).trim();
      if (element !== "") elements.push(element);
      start = at + 1;
      if (char === "]") return elements;
    } else if (char === "}" || char === "]") {
      depth--;
    }
  }
  return elements;
}
