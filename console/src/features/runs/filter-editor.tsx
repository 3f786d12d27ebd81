import {
  acceptCompletion,
  autocompletion,
  closeCompletion,
  type CompletionContext,
  type CompletionResult,
  moveCompletionSelection,
  snippet,
  startCompletion,
} from "@codemirror/autocomplete";
import { StreamLanguage } from "@codemirror/language";
import { Prec } from "@codemirror/state";
import { Decoration, EditorView, keymap } from "@codemirror/view";
import { useComputedColorScheme } from "@mantine/core";
import CodeMirror from "@uiw/react-codemirror";
import { useMemo, useRef } from "react";

import { NONCE } from "../../ui/editor-nonce.ts";
import { type Fact, placeIn, wordsAt } from "./filter-language.ts";

interface FilterEditorProps {
  value: string;
  onChange: (value: string) => void;
  /** Called on Enter; Shift+Enter inserts a line break. */
  onSubmit: () => void;
  facts: readonly Fact[];
  /** Position of the error, from 0; null without one. */
  mistakeAt: number | null;
  /** Id of the text that explains the error. */
  describedBy: string;
}

const language = StreamLanguage.define<object>({
  startState: () => ({}),
  token(stream) {
    if (stream.match(/^"(?:[^"\\]|\\.)*"?|^'(?:[^'\\]|\\.)*'?/)) return "string";
    if (stream.match(/^-?\d+(\.\d+)?/)) return "number";
    if (stream.match(/^(true|false|null)\b/)) return "atom";
    if (stream.match(/^[A-Za-z_]\w*(?=\s*\()/)) return "keyword";
    if (stream.match(/^[A-Za-z_]\w*/)) return "propertyName";
    stream.next();
    return null;
  },
});

/** Editor for a filter expression, with completion. Load it lazily. */
export function FilterEditor({ value, onChange, onSubmit, facts, mistakeAt, describedBy }: FilterEditorProps) {
  const theme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  // the editor is created once and reads current values through this ref
  const now = useRef({ facts, onSubmit });
  now.current = { facts, onSubmit };
  const extensions = useMemo(
    () => [
      language,
      EditorView.lineWrapping,
      ...NONCE,
      editorTheme,
      autocompletion({
        override: [(context) => complete(context, now.current.facts)],
        icons: false,
        // the default keymap accepts a completion on Enter, which applies the filter here
        defaultKeymap: false,
      }),
      Prec.high(
        keymap.of([
          {
            key: "Enter",
            run: (view) => {
              // the list would cover the rows that the filter has found
              closeCompletion(view);
              now.current.onSubmit();
              return true;
            },
          },
          // without an open list, Tab leaves the editor
          { key: "Tab", run: acceptCompletion },
          { key: "ArrowDown", run: moveCompletionSelection(true) },
          { key: "ArrowUp", run: moveCompletionSelection(false) },
          { key: "Ctrl-Space", run: startCompletion },
          { key: "Escape", run: closeCompletion },
        ]),
      ),
      EditorView.contentAttributes.of({ "aria-label": "Filter expression", "aria-describedby": describedBy }),
    ],
    [describedBy],
  );
  const mark = useMemo(() => {
    if (mistakeAt === null || value.length === 0) return EditorView.decorations.of(Decoration.none);
    const from = Math.max(0, Math.min(mistakeAt, value.length - 1));
    const length = /^\w+/.exec(value.slice(from))?.[0].length ?? 1;
    return EditorView.decorations.of((view) => {
      const end = view.state.doc.length;
      if (from >= end) return Decoration.none;
      return Decoration.set([errorMark.range(from, Math.min(from + length, end))]);
    });
  }, [mistakeAt, value]);
  return (
    <CodeMirror
      value={value}
      onChange={onChange}
      theme={theme}
      indentWithTab={false}
      placeholder={'Filter, for example gt(latency, "2s")'}
      extensions={[...extensions, mark]}
      basicSetup={{
        lineNumbers: false,
        foldGutter: false,
        highlightActiveLine: false,
        highlightSelectionMatches: false,
        autocompletion: false,
        completionKeymap: false,
        searchKeymap: false,
      }}
    />
  );
}

const errorMark = Decoration.mark({ class: "cm-filter-mistake" });
const editorTheme = EditorView.theme({
  "&": { fontSize: "13px", backgroundColor: "transparent !important" },
  "&.cm-focused": { outline: "none" },
  ".cm-content": { padding: "5px 0", fontFamily: "var(--mantine-font-family-monospace)" },
  ".cm-placeholder": { color: "var(--mantine-color-dimmed)" },
  ".cm-filter-mistake": {
    textDecoration: "underline wavy var(--heddle-danger)",
    textUnderlineOffset: "3px",
  },
});

function complete(context: CompletionContext, facts: readonly Fact[]): CompletionResult | null {
  const place = placeIn(context.state.doc.toString(), context.pos);
  const words = wordsAt(place, facts);
  if (words.length === 0) return null;
  return {
    from: place.from,
    options: words.map(({ label, detail, kind, insert }) => ({
      label,
      detail,
      type: kind,
      ...(insert !== undefined && { apply: kind === "function" ? snippet(insert.replaceAll("|", "${}")) : insert }),
    })),
    validFor: place.quote === null ? /^\w*$/ : /^[^"']*$/,
  };
}
