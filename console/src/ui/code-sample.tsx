import { Box, Group, SegmentedControl, Text } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";

import classes from "./code-sample.module.css";
import { CopyButton } from "./copy-button.tsx";

export interface Sample {
  /** "Python", "TypeScript", "Shell". */
  language: string;
  code: string;
}

/** Code sample to copy, in the language that the user selected last. */
export function CodeSample({ label, samples, note }: { label: string; samples: Sample[]; note?: string | undefined }) {
  const [chosen, setChosen] = useLocalStorage({
    key: "heddle.code-language",
    defaultValue: "Python",
    getInitialValueInEffect: false,
  });
  const shown = samples.find(({ language }) => language === chosen) ?? samples[0]!;
  return (
    <Box component="section" aria-label={label} w="100%" maw={720} ta="start">
      <Group justify="space-between" mb={4} gap="xs">
        {samples.length > 1 ? (
          <SegmentedControl
            size="xs"
            aria-label="Language"
            data={samples.map(({ language }) => language)}
            value={shown.language}
            onChange={setChosen}
          />
        ) : (
          <Text size="xs" c="dimmed">
            {shown.language}
          </Text>
        )}
        <CopyButton value={shown.code} label="Copy code" />
      </Group>
      <pre className={classes["code"]} tabIndex={0}>
        <code>{shown.code}</code>
      </pre>
      {note !== undefined && (
        <Text size="xs" c="dimmed" mt={4}>
          {note}
        </Text>
      )}
    </Box>
  );
}
