import { Box, Input, Skeleton } from "@mantine/core";
import { lazy, Suspense, useId } from "react";

const CodeEditor = lazy(() => import("./code-editor.tsx"));

interface JsonFieldProps {
  label: string;
  description?: string;
  value?: string;
  onChange: (value: string) => void;
  error?: string | null;
  minHeight?: string;
  placeholder?: string;
}

/** Field for JSON. Parse its text with `readJson`. */
export function JsonField({ label, description, error, minHeight = "6rem", ...editor }: JsonFieldProps) {
  const id = useId();
  return (
    <Input.Wrapper label={label} labelElement="div" description={description} error={error} id={id}>
      <Box
        mt={4}
        fz={13}
        style={{ border: "1px solid var(--mantine-color-default-border)", borderRadius: 4, overflow: "hidden" }}
      >
        <Suspense fallback={<Skeleton height={minHeight} radius={0} />}>
          <CodeEditor label={label} minHeight={minHeight} maxHeight="20rem" {...editor} />
        </Suspense>
      </Box>
    </Input.Wrapper>
  );
}

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
