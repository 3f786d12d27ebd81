export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** @throws an error that explains what is wrong and in which field */
export function readJson(text: string, label: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new Error(`${label} is not valid JSON: ${(error as Error).message}`, { cause: error });
  }
}

/** Parses an object; empty text is an empty object. @throws as `readJson`, and for anything but an object */
export function readObject(text: string, label: string): Record<string, unknown> {
  const value = text.trim() === "" ? {} : readJson(text, label);
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw new Error(`${label} must be an object`);
  return value;
}

export const writeJson = (value: unknown): string => JSON.stringify(value ?? null, null, 2);
