/** Returns a copy without some keys. */
export function omit<T extends object, K extends PropertyKey>(object: T, ...keys: K[]): Omit<T, K> {
  const copy = { ...object };
  for (const key of keys) delete copy[key as unknown as keyof T];
  return copy;
}
