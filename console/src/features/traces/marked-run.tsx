import { Button, CloseButton, Group, Text } from "@mantine/core";
import { useHotkeys, useLocalStorage } from "@mantine/hooks";
import { IconArrowsDiff, IconPin } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";

import classes from "./marked-run.module.css";

interface Marked {
  id: string;
  name: string;
}

/** The run that was marked to be compared with another one, of this trace or of any other. */
export function useMarkedRun() {
  const [marked, setMarked] = useLocalStorage<Marked | null>({
    key: "heddle.marked-run",
    defaultValue: null,
    getInitialValueInEffect: false,
  });
  const navigate = useNavigate();
  const clear = () => setMarked(null);
  return {
    marked,
    mark: ({ id, name }: Marked) => setMarked({ id, name }),
    clear,
    compare: (id: string) => {
      if (!marked) return;
      clear();
      void navigate({ to: "/compare", search: { a: marked.id, b: id } });
    },
  };
}

/** Names the marked run, and compares the shown one with it: by its button, or by the key that marks. */
export function MarkedRun({ run }: { run: Marked | undefined }) {
  const { marked, mark, clear, compare } = useMarkedRun();
  useHotkeys([
    [
      "m",
      () => {
        if (!run) return;
        if (!marked) mark(run);
        else if (marked.id === run.id) clear();
        else compare(run.id);
      },
    ],
  ]);
  if (!marked) return null;
  const isShown = marked.id === run?.id;
  return (
    <Group gap="xs" className={classes["bar"]} role="region" aria-label="Marked run">
      <IconPin size={14} aria-hidden />
      <Text size="sm" role="status" style={{ overflowWrap: "anywhere" }}>
        {isShown
          ? `${marked.name || "Unnamed"} is marked. Open another run and press M to compare both.`
          : `Marked: ${marked.name || "Unnamed"} (${marked.id.slice(-8)})`}
      </Text>
      {!isShown && run && (
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconArrowsDiff size={14} aria-hidden />}
          onClick={() => compare(run.id)}
        >
          Compare with {run.name || "this run"}
        </Button>
      )}
      <CloseButton size="sm" ms="auto" aria-label="Clear the mark" onClick={clear} />
    </Group>
  );
}
