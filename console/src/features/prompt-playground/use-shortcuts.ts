import { useEffect, useRef } from "react";

/**
 * Handles keys anywhere on the page, also in fields and before an editor handles them itself.
 * @param actions by key: `mod+Enter` is Ctrl or ⌘, `alt+m`, or a single key, which fields keep
 */
export function useShortcuts(actions: Record<string, () => void>): void {
  const current = useRef(actions);
  current.current = actions;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.isComposing || event.repeat) return;
      const action = current.current[keyName(event)];
      const isTyped = !event.ctrlKey && !event.metaKey && !event.altKey;
      if (!action || document.querySelector('[aria-modal="true"]') || (isTyped && isField(event.target))) return;
      event.preventDefault();
      event.stopPropagation();
      action();
    };
    window.addEventListener("keydown", onKeyDown, true);
    return () => window.removeEventListener("keydown", onKeyDown, true);
  }, []);
}

function keyName({ ctrlKey, metaKey, altKey, code, key }: KeyboardEvent): string {
  // with Alt, some layouts produce other characters
  const name = altKey ? code.replace(/^Key/, "").toLowerCase() : key.length === 1 ? key.toLowerCase() : key;
  return `${ctrlKey || metaKey ? "mod+" : ""}${altKey ? "alt+" : ""}${name}`;
}

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
