import { Group, SegmentedControl, Stack, Text } from "@mantine/core";
import { lazy, Suspense } from "react";

import { type EvaluatorDraft, type Language, TEMPLATES } from "./draft.ts";

const CodeEditor = lazy(() => import("../../ui/code-editor.tsx"));

interface CodeFieldsProps {
  draft: EvaluatorDraft;
  onChange: (change: Partial<EvaluatorDraft>) => void;
}

const NO_EXTENSIONS: [] = [];

/** Language and code of an evaluator. */
export function CodeFields({ draft, onChange }: CodeFieldsProps) {
  const { language, code } = draft;
  return (
    <Stack gap="xs">
      <Group>
        <SegmentedControl
          size="xs"
          aria-label="Language"
          data={[
            { value: "javascript", label: "JavaScript" },
            { value: "python", label: "Python" },
          ]}
          value={language}
          onChange={(value) => {
            const next = value as Language;
            // code that was not changed is replaced by that of the other language
            onChange({ language: next, ...(code === TEMPLATES[language] && { code: TEMPLATES[next] }) });
          }}
        />
      </Group>
      <Text size="xs" c="dimmed">
        A function {language === "python" ? "perform_eval(run, example)" : "performEval(run, example)"} that returns a
        number, a boolean, {"{key: score}"} or {"{key, score, comment}"}. It has no access to files and network.
      </Text>
      <div style={{ minHeight: 320 }}>
        <Suspense>
          <CodeEditor
            label="Code"
            value={code}
            extensions={NO_EXTENSIONS}
            minHeight="20rem"
            onChange={(value) => onChange({ code: value })}
          />
        </Suspense>
      </div>
    </Stack>
  );
}
