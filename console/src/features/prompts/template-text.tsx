import { useMemo } from "react";

import classes from "./prompts.module.css";
import { splitTemplate, type TemplateFormat } from "./template.ts";

/** Text of a template with its variables highlighted. */
export function TemplateText({ text, format }: { text: string; format: TemplateFormat }) {
  const parts = useMemo(() => splitTemplate(text, format), [text, format]);
  return (
    <div className={classes["text"]}>
      {parts.map(({ text: part, variable }, index) =>
        variable === null ? (
          <span key={index}>{part}</span>
        ) : (
          <span key={index} className={classes["variable"]} title={`Variable ${variable}`}>
            {part}
          </span>
        ),
      )}
    </div>
  );
}
