import { Button, Text, Tooltip } from "@mantine/core";
import { IconDatabase, IconDeviceFloppy, IconPlayerPlay, IconPlayerStop } from "@tabler/icons-react";
import { lazy, type ReactNode, Suspense, useMemo, useState } from "react";

import { useConfirm } from "../../ui/confirm.tsx";
import { Page } from "../../ui/page.tsx";
import { type Shortcut, ShortcutsButton } from "../../ui/shortcuts-button.tsx";
import { Answers } from "./answers.tsx";
import { buildRequest } from "./build-request.ts";
import { activePrompt, type Draft, letter } from "./draft.ts";
import { InputsPanel } from "./inputs-panel.tsx";
import classes from "./prompt-playground.module.css";
import { PromptEditor } from "./prompt-editor.tsx";
import { TriesList } from "./tries-list.tsx";
import { addTry, type Try } from "./tries.ts";
import { useAnswers } from "./use-answers.ts";
import { useDraft } from "./use-draft.ts";
import { usePermission } from "../settings/use-permission.ts";
import { useShortcuts } from "./use-shortcuts.ts";

const SaveDialog = lazy(async () => ({ default: (await import("./save-dialog.tsx")).SaveDialog }));
const DatasetDialog = lazy(async () => ({ default: (await import("./dataset-dialog.tsx")).DatasetDialog }));

const SHORTCUTS: Shortcut[] = [
  [["Ctrl/⌘", "Enter"], "Run all columns"],
  [["Ctrl/⌘", "."], "Stop all columns"],
  [["Ctrl/⌘", "S"], "Save as a commit"],
  [["Alt", "↑"], "Move the message up"],
  [["Alt", "↓"], "Move the message down"],
  [["Alt", "Enter"], "Add a message below"],
  [["Alt", "Delete"], "Remove the message"],
  [["Alt", "M"], "Add a column with the same prompt"],
  [["Alt", "P"], "Add a column with a copy of the prompt"],
  [["?"], "Show keyboard shortcuts"],
];

interface WorkbenchProps {
  owner: string;
  source: string;
  opened: Draft;
  tries: Try[];
  notices: ReactNode;
  /** Called when the draft has been discarded. */
  onDiscard: () => void;
}

/** Editor on the left, answers on the right. */
export function Workbench({ owner, source, opened, tries: before, notices, onDiscard }: WorkbenchProps) {
  const { draft, dispatch, tries, setTries, isKept, discard } = useDraft(owner, source, opened, before);
  const [dialog, setDialog] = useState<"save" | "dataset" | "shortcuts" | null>(null);
  const { confirm, dialog: confirmation } = useConfirm();
  const mayCall = usePermission("models:call");
  const maySave = usePermission("prompts:update", "prompts:create");
  const { answers, run, stop } = useAnswers((key, answer) => {
    const index = draft.columns.findIndex((column) => column.key === key);
    setTries((list) => addTry(list, letter(Math.max(0, index)), answer));
  });
  const isRunning = Object.values(answers).some(({ status }) => status === "running");
  const runColumns = (keys: readonly string[]) => {
    if (mayCall !== null) return;
    for (const column of draft.columns.filter(({ key }) => keys.includes(key))) {
      void run(column.key, column.model.model, () => buildRequest(draft, column));
    }
  };
  const runAll = () => runColumns(draft.columns.map(({ key }) => key));
  useShortcuts({
    "mod+Enter": runAll,
    "mod+.": () => stop(),
    "mod+s": () => maySave === null && setDialog("save"),
    "alt+m": () => dispatch({ type: "add-column", withPrompt: false }),
    "alt+p": () => dispatch({ type: "add-column", withPrompt: true }),
    "?": () => setDialog("shortcuts"),
  });
  const prompt = activePrompt(draft);
  const name = useMemo(() => describeOrigin(draft), [draft]);
  const askToDiscard = () =>
    confirm({
      title: "Discard this draft?",
      body: "The page starts again from what was opened. The traces of your tries are kept.",
      action: "Discard draft",
      run: async () => {
        stop();
        discard();
        onDiscard();
      },
    });
  return (
    <Page
      title="Prompt playground"
      actions={
        <>
          <ShortcutsButton
            shortcuts={SHORTCUTS}
            isOpen={dialog === "shortcuts"}
            onOpen={(isOpen) => setDialog(isOpen ? "shortcuts" : null)}
          />
          <Button
            size="xs"
            variant="subtle"
            color="neutral"
            onClick={askToDiscard}
            disabled={!draft.isEdited && tries.length === 0}
          >
            Discard draft
          </Button>
          <ReasonButton
            reason={mayCall}
            size="xs"
            variant="default"
            leftSection={<IconDatabase size={14} aria-hidden />}
            onClick={() => setDialog("dataset")}
          >
            Run over dataset
          </ReasonButton>
          <ReasonButton
            reason={maySave}
            size="xs"
            variant="default"
            leftSection={<IconDeviceFloppy size={14} aria-hidden />}
            onClick={() => setDialog("save")}
          >
            Save
          </ReasonButton>
          {isRunning ? (
            <Button
              size="xs"
              color="danger"
              variant="outline"
              leftSection={<IconPlayerStop size={14} aria-hidden />}
              onClick={() => stop()}
            >
              Stop
            </Button>
          ) : (
            <ReasonButton
              reason={mayCall}
              size="xs"
              leftSection={<IconPlayerPlay size={14} aria-hidden />}
              onClick={runAll}
            >
              {draft.columns.length === 1 ? "Run" : "Run all"}
            </ReasonButton>
          )}
        </>
      }
    >
      {name !== null && (
        <Text size="sm" c="dimmed" mt={-12} mb="xs">
          {name}
        </Text>
      )}
      {notices}
      {!isKept && (
        <Text size="sm" role="status" mb="xs">
          The draft is too large to survive a reload. Save it as a commit to keep it.
        </Text>
      )}
      <div className={classes["grid"]}>
        <div className={classes["editor"]}>
          <PromptEditor key={prompt.key} draft={draft} prompt={prompt} dispatch={dispatch} />
          <InputsPanel draft={draft} dispatch={dispatch} />
        </div>
        <div className={classes["results"]}>
          <Answers
            draft={draft}
            answers={answers}
            dispatch={dispatch}
            mayCall={mayCall}
            onRun={runColumns}
            onStop={stop}
          />
          <TriesList tries={tries} />
        </div>
      </div>
      {confirmation}
      <Suspense>
        {dialog === "save" && <SaveDialog draft={draft} dispatch={dispatch} onClose={() => setDialog(null)} />}
        {dialog === "dataset" && <DatasetDialog draft={draft} onClose={() => setDialog(null)} />}
      </Suspense>
    </Page>
  );
}

function describeOrigin(draft: Draft): string | null {
  const { origin } = activePrompt(draft);
  const parts = [
    draft.run && `Opened from the call ${draft.run.name} · ${draft.run.runId.slice(-8)}`,
    origin && `${origin.owner === "-" ? "" : `${origin.owner}/`}${origin.repo} at ${origin.commitHash.slice(0, 8)}`,
  ].filter(Boolean);
  return parts.length > 0 ? parts.join(" · ") : null;
}

/** Button that is disabled with a reason. */
function ReasonButton({ reason, ...props }: { reason: string | null } & Parameters<typeof Button<"button">>[0]) {
  if (reason === null) return <Button {...props} />;
  return (
    <Tooltip label={reason} events={{ hover: true, focus: true, touch: true }}>
      <Button {...props} data-disabled aria-disabled onClick={(event) => event.preventDefault()} title={reason} />
    </Tooltip>
  );
}
