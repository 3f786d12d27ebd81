import { json } from "@codemirror/lang-json";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useComputedColorScheme } from "@mantine/core";
import CodeMirror from "@uiw/react-codemirror";

import { NONCE } from "./editor-nonce.ts";

interface CodeEditorProps {
  /** Label for screen readers. */
  label: string;
  value?: string;
  onChange?: (value: string) => void;
  /** Language and completions; JSON by default. */
  extensions?: Extension[];
  isReadOnly?: boolean;
  minHeight?: string;
  maxHeight?: string;
  placeholder?: string;
}

const JSON_EXTENSIONS = [json()];
/** More specific than the themes, whose grounds are not the page's. */
const GROUND = EditorView.theme({
  "&.cm-editor": { backgroundColor: "var(--mantine-color-body)" },
  "&.cm-editor .cm-gutters": { backgroundColor: "var(--heddle-raised)", color: "var(--mantine-color-dimmed)" },
});

/** Load it lazily: `const CodeEditor = lazy(() => import("../ui/code-editor.tsx"))`; it is as large as a page. */
export default function CodeEditor({
  label,
  value = "",
  onChange,
  extensions = JSON_EXTENSIONS,
  isReadOnly = false,
  minHeight = "6rem",
  maxHeight = "60vh",
  placeholder,
}: CodeEditorProps) {
  const theme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  return (
    <CodeMirror
      value={value}
      theme={theme}
      // Tab moves to the next control (WCAG 2.1.2)
      indentWithTab={false}
      editable={!isReadOnly}
      readOnly={isReadOnly}
      minHeight={minHeight}
      maxHeight={maxHeight}
      placeholder={placeholder}
      {...(onChange && { onChange })}
      extensions={[
        ...extensions,
        GROUND,
        EditorView.lineWrapping,
        ...NONCE,
        EditorView.contentAttributes.of({ "aria-label": label }),
      ]}
      basicSetup={{ foldGutter: true, highlightActiveLine: false, tabSize: 2 }}
    />
  );
}
