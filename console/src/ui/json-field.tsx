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

/** Field for JSON. Parse its text with `readJson` of json-text.ts. */
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
