import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";

import { styleNonce } from "../app/style-nonce.ts";

/** Lets an editor add its styles, which the page's policy permits with a nonce only. */
export const NONCE: Extension[] = styleNonce === undefined ? [] : [EditorView.cspNonce.of(styleNonce)];
