// Evaluates JavaScript in QuickJS, compiled to WebAssembly. Runs in a worker thread of javascript-process.mjs. Each
// evaluation gets a separate instance: its memory starts empty and is dropped afterwards. Code in it reaches the
// language and `console`: an instance has no imports for files, processes, sockets or timers.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import * as nodeModule from "node:module";
import { parentPort, workerData } from "node:worker_threads";

import { EvalFlags, JSException, QuickJS } from "quickjs-wasi";

import { PRELUDE } from "./javascript-prelude.mjs";

const FILE = "evaluator.js";
const { memoryBytes, maxValue, maxLogs, maxMessage, network } = workerData;
/** Below the stack of the WebAssembly instance and of the thread, so that recursion ends as an error of the code. */
const STACK_BYTES = 384 * 1024;
const NO_FUNCTION = "The code declares no function performEval(run, example) and exports none as default.";

/** Finds the function in what the code declares. `typeof` accepts names that are not declared. */
const FIND = ["performEval", "perform_eval", "evaluate", "evaluator"]
  .map((name) => `typeof ${name} === "function" ? ${name} : `)
  .concat("undefined")
  .join("");

const compiled = await WebAssembly.compile(
  readFileSync(createRequire(import.meta.url).resolve("quickjs-wasi/quickjs.wasm")),
);

/** What takes the answers to the evaluation's requests, which come in their order. */
const requests = [];
let onAnswer = () => {};

parentPort.on("message", (order) => {
  if (requests.length > 0) {
    requests.shift()(order);
    return onAnswer();
  }
  void evaluate(JSON.parse(order)).then((reply) => parentPort.postMessage(JSON.stringify(reply)));
});
parentPort.postMessage("ready");

async function evaluate({ code, input, timeoutMs, check }) {
  const until = performance.now() + timeoutMs;
  const isLate = () => performance.now() > until;
  let logs = "";
  let kind = "syntax";
  const failure = (message) => ({ ok: false, kind, message: message.slice(0, maxMessage), logs });
  let vm;
  try {
    vm = await createInstance(isLate, (line) => {
      if (logs.length < maxLogs) logs = `${logs}${line}\n`.slice(0, maxLogs);
    });
    const prelude = vm.evalCode(PRELUDE, "prelude");
    const source = asJavaScript(vm, code);
    const isModule = syntaxError(vm, source, EvalFlags.TYPE_GLOBAL) !== undefined;
    if (isModule) throwIf(syntaxError(vm, source, EvalFlags.TYPE_MODULE));
    kind = "error";
    const fn = isModule ? await runModule(vm, source) : runScript(vm, source);
    if (!fn.isFunction) {
      kind = "syntax";
      return failure(NO_FUNCTION);
    }
    if (check) return { ok: true, value: "null", logs };
    const called = vm.callFunction(prelude.getProp("call"), vm.undefined, fn, vm.newString(input));
    const value = await settle(vm, called);
    if (value === undefined) return failure("The function's promise is never settled: evaluators have no timers.");
    const json = vm.callFunction(prelude.getProp("stringify"), vm.undefined, value);
    if (!json.isString) return failure("The function returned a value that JSON cannot represent.");
    const text = json.toString();
    if (text.length > maxValue) {
      return failure(`The function returned ${text.length} characters of JSON; the limit is ${maxValue}.`);
    }
    return { ok: true, value: text, logs };
  } catch (error) {
    const message = explain(error);
    if (isLate()) {
      kind = "timeout";
      return failure(message.replace(/^.*/, `The code ran longer than ${timeoutMs / 1000} s.`));
    }
    if (message.startsWith("InternalError: out of memory")) kind = "memory";
    return failure(message);
  } finally {
    try {
      vm?.dispose();
    } catch {
      // an instance whose stack overflowed; its memory is dropped all the same
    }
  }
}

async function createInstance(isLate, onLog) {
  const vm = await QuickJS.create({
    wasm: compiled,
    // the engine's own messages
    wasi: () => ({ fd_write: () => 8 }),
    memoryLimit: memoryBytes,
    maxStackSize: STACK_BYTES,
    interruptHandler: isLate,
    timezoneOffset: 0,
    moduleLoader: {
      load(name) {
        const error = new TypeError(`Cannot import ${JSON.stringify(name)}: evaluators have no modules.`);
        // its lines are those of this file
        error.stack = "";
        throw error;
      },
    },
  });
  const log = vm.newFunction("__log", (line) => {
    onLog(line.toString());
    return vm.undefined;
  });
  vm.setProp(vm.global, "__log", log);
  if (network)
    vm.setProp(
      vm.global,
      "__request",
      vm.newFunction("__request", (text) => sendRequest(vm, text)),
    );
  return vm;
}

function sendRequest(vm, text) {
  const { handle, resolve } = vm.newPromise();
  requests.push((answer) => resolve(vm.newString(answer)));
  parentPort.postMessage({ request: text.toString() });
  return handle;
}

function runScript(vm, source) {
  vm.evalCode(source, FILE);
  return vm.evalCode(FIND, "find");
}

async function runModule(vm, source) {
  const found = "__found";
  const code = `${source}\n;globalThis.${found} = ${FIND};`;
  const namespace = await settle(vm, vm.evalCode(code, FILE, EvalFlags.TYPE_MODULE));
  const named = vm.global.getProp(found);
  return named.isFunction || namespace === undefined ? named : namespace.getProp("default");
}

/** Returns what a value or promise becomes; undefined if it stays pending. Throws what a promise rejects with. */
async function settle(vm, value) {
  vm.executePendingJobs();
  if (!value.isPromise) return value;
  while (value.promiseState === 0 && requests.length > 0) {
    await new Promise((done) => (onAnswer = done));
    vm.executePendingJobs();
  }
  if (value.promiseState === 0) return undefined;
  const settled = await vm.resolvePromise(value);
  if ("error" in settled) throw new JSException(settled.error);
  return settled.value;
}

/** Removes types, where the code is not JavaScript and this version of Node.js can. Lines and columns stay. */
function asJavaScript(vm, code) {
  const isJavaScript = [EvalFlags.TYPE_GLOBAL, EvalFlags.TYPE_MODULE].some((kind) => !syntaxError(vm, code, kind));
  if (isJavaScript || !nodeModule.stripTypeScriptTypes) return code;
  try {
    return nodeModule.stripTypeScriptTypes(code);
  } catch {
    return code;
  }
}

function syntaxError(vm, source, kind) {
  try {
    vm.evalCode(source, FILE, kind | EvalFlags.COMPILE_ONLY).dispose();
    return undefined;
  } catch (error) {
    return error;
  }
}

function throwIf(error) {
  if (error) throw error;
}

/** Message and lines of the evaluator's own code. */
function explain(error) {
  if (!(error instanceof JSException)) return `${error?.name}: ${error?.message}`;
  if (!error.handle.isError) return `The code threw ${error.handle.isString ? error.handle.toString() : error.message}`;
  const lines = String(error.stack ?? "")
    .split("\n")
    .filter((line) => line.includes(FILE));
  return [`${error.name}: ${error.message}`, ...lines].join("\n");
}
