import { readOptions } from "../src/base/config/options.ts";
import { createOutbound } from "../src/base/outbound/outbound.ts";
import { readPolicy } from "../src/base/outbound/policy.ts";
import { CodeRunner } from "../src/trace/code-evaluators/code-runner.ts";
import type { Language } from "../src/trace/code-evaluators/languages.ts";
import { type CodeOrder, runCode } from "../src/trace/code-evaluators/run-code.ts";
import { codeEvaluatorOptions } from "../src/trace/code-evaluators/settings.ts";
import { atEnd } from "./at-end.ts";

const run = { id: "r1", inputs: { question: "2 + 2" }, outputs: { answer: "4" } };
const example = { id: "e1", outputs: { answer: "4" } };

/** Creates a runner with the given settings, which is stopped after the file's tests. */
export function codeRunner(environment: Record<string, string> = {}) {
  const outbound = createOutbound(readPolicy(environment["HEDDLE_OUTBOUND_ALLOW"] ?? "", false));
  const runner = new CodeRunner(readOptions(codeEvaluatorOptions, environment), outbound);
  atEnd(async () => {
    await runner.stop();
    await outbound.close();
  });
  const evaluate = (language: Language, code: string, order: Partial<CodeOrder> = {}) =>
    runCode(
      { codeRunner: runner },
      { language, code, tenantId: "t1", run, example, signal: new AbortController().signal, ...order },
    );
  return {
    runner,
    evaluate,
    js: (code: string, order?: Partial<CodeOrder>) => evaluate("javascript", code, order),
    python: (code: string, order?: Partial<CodeOrder>) => evaluate("python", code, order),
  };
}
