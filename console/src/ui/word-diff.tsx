import { useMemo } from "react";

import classes from "./word-diff.module.css";
import { diffWords } from "./word-diff.ts";

/** Characters of each text that are compared; longer texts are cut off. */
const SHOWN = 100_000;

interface WordDiffProps {
  before: string;
  after: string;
  /** Label for screen readers, such as `Changes from 1a2b3c4d to 5e6f7a8b`. */
  label?: string;
}

/** Text with removed words struck through and added words underlined. */
export function WordDiff({ before, after, label }: WordDiffProps) {
  const parts = useMemo(() => diffWords(before.slice(0, SHOWN), after.slice(0, SHOWN)), [before, after]);
  return (
    <div className={classes["text"]} {...(label !== undefined && { role: "group", "aria-label": label })}>
      {parts.map(({ kind, text }, index) => {
        if (kind === "same") return <span key={index}>{text}</span>;
        return kind === "removed" ? <del key={index}>{text}</del> : <ins key={index}>{text}</ins>;
      })}
      {(before.length > SHOWN || after.length > SHOWN) && "…"}
    </div>
  );
}
