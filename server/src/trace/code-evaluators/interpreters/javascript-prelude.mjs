/**
 * Runs in an instance of QuickJS before the evaluator's code, which therefore cannot replace what these functions use.
 * Evaluates to the functions with which the code is called.
 */
export const PRELUDE = `(() => {
  const { parse, stringify } = JSON;
  const { apply } = Reflect;
  const source = Function.prototype.toString;
  const text = String;
  const log = __log;
  const request = globalThis.__request;
  delete globalThis.__log;
  delete globalThis.__request;
  const show = (value) => {
    if (typeof value !== "object" || value === null) return text(value);
    try {
      return value instanceof Error ? value.name + ": " + value.message : stringify(value) ?? "[object]";
    } catch {
      return "[unprintable]";
    }
  };
  const print = (...values) => {
    let line = "";
    for (let i = 0; i < values.length; i++) line += (i > 0 ? " " : "") + show(values[i]);
    log(line);
  };
  globalThis.console = { log: print, info: print, warn: print, error: print, debug: print };
  globalThis.fetch = async (url, { method, headers, body } = {}) => {
    if (!request) throw new TypeError("Evaluators have no network; the operator allows hosts with HEDDLE_CODE_EVALUATOR_HOSTS.");
    const answer = parse(await request(stringify({ url: text(url), method, headers, body })));
    if (answer.error) throw new TypeError(answer.error);
    const { status } = answer;
    return {
      status,
      ok: status >= 200 && status < 300,
      headers: { get: (name) => answer.headers[text(name).toLowerCase()] ?? null },
      text: async () => answer.text,
      json: async () => parse(answer.text),
    };
  };
  const braces = /^(async\\s+)?(function\\b[^(]*|[\\w$]+\\s*)?\\(\\s*\\{/;
  const test = RegExp.prototype.test;
  return {
    // One parameter in braces takes everything by name, as evaluators of the SDKs do.
    call(fn, input) {
      const { run, example, more } = parse(input);
      if (fn.length !== 1 || !apply(test, braces, [apply(source, fn, [])])) return fn(run, example, more);
      const reference = example?.outputs;
      return fn({ ...run, ...more, run, example, referenceOutputs: reference, reference_outputs: reference });
    },
    // as in Python; JSON.stringify would write null, which is no score
    stringify: (value) =>
      stringify(value === undefined ? null : value, (_key, each) => {
        if (typeof each === "number" && (each !== each || each === 1 / 0 || each === -1 / 0)) {
          throw new TypeError("The function returned " + each + ", which JSON cannot represent.");
        }
        return each;
      }),
  };
})()`;
