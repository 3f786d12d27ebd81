import { RE2JS } from "re2js";

import type { Masking } from "../../../../host-kit/src/masking/mask-json.ts";
import { byField, type MaskingByField, readPath } from "../../../../host-kit/src/masking/read-masking.ts";
import type { MaskedPart } from "./schema.ts";

/** Compiles what a rule masks, by field. Patterns are RE2's, which take linear time whatever the text is. */
export function compileRule({ fields, path, detectors, pattern, replacement }: MaskedPart): MaskingByField {
  const masking: Masking = {
    ...readPath(path),
    detectors,
    ...(pattern !== null && { replacePattern: replacer(RE2JS.compile(pattern)) }),
    ...(replacement !== null && { replacement }),
  };
  return byField([{ fields, masking }]);
}

const replacer =
  (expression: RE2JS): NonNullable<Masking["replacePattern"]> =>
  (text, replace) => {
    const matcher = expression.matcher(text);
    let result = "";
    let at = 0;
    while (matcher.find()) {
      if (matcher.end() === matcher.start()) continue;
      result += text.slice(at, matcher.start()) + replace(matcher.group()!);
      at = matcher.end();
    }
    return at === 0 ? text : result + text.slice(at);
  };
