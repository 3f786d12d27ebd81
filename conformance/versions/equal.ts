/** Throws unless both values have the same JSON. */
export function equal(actual: unknown, expected: unknown, what = ""): void {
  const [got, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (got !== wanted) throw new Error(`${what && `${what}: `}expected ${wanted}, got ${got}`);
}
