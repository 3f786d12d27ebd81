import { describe, expect, test } from "vitest";

import { codeRunner } from "../../../test/code-runner.ts";
import { checkCode } from "./run-code.ts";

const { runner, js, python } = codeRunner();
const deps = { codeRunner: runner };

describe("JavaScript", () => {
  test.each([
    [
      "a function of two parameters",
      "function performEval(run, example) { return run.outputs.answer === example.outputs.answer }",
    ],
    ["a function of names", "const performEval = ({ run, example }) => run.outputs.answer === example.outputs.answer"],
    [
      "the names of the SDK",
      "async function performEval({ outputs, referenceOutputs }) { return outputs.answer === referenceOutputs.answer }",
    ],
    ["an asynchronous function", "async function performEval(run) { await null; return run.outputs.answer === '4' }"],
    ["an exported function", "export async function performEval(run) { return run.outputs.answer === '4' }"],
    [
      "a default export",
      "const expected = await Promise.resolve('4');\nexport default (run) => run.outputs.answer === expected",
    ],
    ["code of sloppy mode", "function perform_eval(run) { result = run.outputs.answer === '4'; return result }"],
  ])("calls %s", async (_form, code) => {
    expect(await js(code)).toEqual({ ok: true, value: true, logs: "" });
  });

  test("returns what the code prints and an object of scores", async () => {
    const code = `function performEval(run) { console.log("asked", run.inputs, 1n); return { correct: 1, comment: null } }`;
    const value = { correct: 1, comment: null };
    expect(await js(code)).toEqual({ ok: true, value, logs: 'asked {"question":"2 + 2"} 1\n' });
  });

  test("reports errors with the lines of the code alone", async () => {
    const result = await js("function inner() {\n  null.x;\n}\nconst performEval = async () => {\n  inner();\n};");
    expect(result).toMatchObject({ ok: false, kind: "error" });
    expect(result).toMatchObject({
      message: expect.stringMatching(
        /^TypeError: cannot read property 'x' of null\n +at inner \(evaluator.js:2:\d+\)\n +at performEval \(evaluator.js:5:\d+\)$/,
      ),
    });
    expect(await js("const performEval = () => {\n  return 1 +;\n}")).toMatchObject({
      kind: "syntax",
      message: expect.stringMatching(/^SyntaxError: .*\n +at evaluator.js:2:/),
    });
    expect(await js("const performEval = () => { throw 'no' }")).toMatchObject({ message: "The code threw no" });
    expect(await js("const performEval = () => 1n")).toMatchObject({ kind: "error" });
    expect(await js("const performEval = () => new Promise(() => {})")).toMatchObject({
      message: "The function's promise is never settled: evaluators have no timers.",
    });
  });
});

describe("Python", () => {
  test.each([
    [
      "a function of two parameters",
      'def perform_eval(run, example):\n    return run["outputs"]["answer"] == example["outputs"]["answer"]',
    ],
    ["a function of one parameter", "def perform_eval(r): return r.outputs['answer'] == '4'"],
    [
      "the names of the SDK",
      "def perform_eval(outputs: dict, reference_outputs: dict) -> bool:\n    return outputs == reference_outputs",
    ],
    [
      "an asynchronous function",
      "async def perform_eval(run, example=None):\n    return example.outputs == run.outputs",
    ],
    ["any arguments", "def perform_eval(*arguments, **names):\n    return len(arguments) == 3"],
    [
      "modules of the standard library",
      `
import ast, json, re, statistics
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlparse

@dataclass
class Score:
    value: "int"

def perform_eval(run, example):
    assert ast.literal_eval("[1]") == [1] and urlparse("https://a/b").path == "/b"
    assert datetime.strptime("2026-01-02", "%Y-%m-%d").year == 2026
    return Score(len(Counter("aab")) - 1).value == 1 and bool(re.match("4", run.outputs["answer"]))
`,
    ],
  ])("calls %s", async (_form, code) => {
    expect(await python(code)).toEqual({ ok: true, value: true, logs: "" });
  });

  test("returns what the code prints and an object of scores", async () => {
    const code = `def perform_eval(run):\n    print("asked", run["inputs"])\n    return {"correct": 1, "comment": None}`;
    const value = { correct: 1, comment: null };
    expect(await python(code)).toEqual({ ok: true, value, logs: "asked {'question': '2 + 2'}\n" });
  });

  test("reports errors with the lines of the code alone", async () => {
    expect(await python("import json\ndef perform_eval(run):\n    return json.loads('{')")).toEqual({
      ok: false,
      kind: "error",
      message:
        'Traceback (most recent call last):\n  File "evaluator.py", line 3, in perform_eval\n' +
        "    return json.loads('{')\n" +
        "json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
      logs: "",
    });
    expect(await python("def perform_eval(run):\n    return (")).toMatchObject({
      kind: "syntax",
      message: expect.stringContaining('File "evaluator.py", line 2'),
    });
    expect(await python("import numpy\ndef perform_eval(run): return 1")).toMatchObject({
      message: expect.stringContaining("Evaluators cannot import 'numpy'; they can import __future__"),
    });
    expect(await python("def perform_eval(run): return float('nan')")).toMatchObject({ kind: "error" });
    expect(await python("def perform_eval(run): return {1}")).toMatchObject({
      message: "TypeError: The function returned a set, which JSON cannot represent.",
    });
  });
});

test("checks code without calling it", async () => {
  expect(await checkCode(deps, "javascript", "function performEval() { throw 1 }")).toEqual({ ok: true });
  expect(await checkCode(deps, "python", "def perform_eval(run): raise 1")).toEqual({ ok: true });
  expect(await checkCode(deps, "javascript", "let performEval")).toMatchObject({ ok: false });
  expect(await checkCode(deps, "python", "perform_eval = 1")).toMatchObject({
    message: "The code declares no function perform_eval(run, example).",
  });
  expect(await checkCode(deps, "python", "while True: pass")).toMatchObject({ ok: false });
});

test("runs below the run are reached alike, and a score that is no number is an error in both languages", async () => {
  const run = { child_runs: [{ name: "search", child_runs: [{ name: "fetch" }] }] };
  const path = "run.child_runs[0].child_runs[0].name";
  expect(await js(`const performEval = (run) => ${path}`, { run })).toMatchObject({ value: "fetch" });
  expect(await python(`def perform_eval(run): return ${path}`, { run })).toMatchObject({ value: "fetch" });
  const scores = '[{"key": "a", "score": 1}, {"key": "b", "score": nan}]';
  expect(await js(`const nan = NaN, performEval = () => (${scores})`)).toMatchObject({
    ok: false,
    message: expect.stringContaining("NaN, which JSON cannot represent"),
  });
  expect(await python(`nan = float("nan")\ndef perform_eval(run): return ${scores}`)).toMatchObject({ ok: false });
});

test("passes a third argument and inputs of megabytes", async () => {
  const run = { outputs: { text: "x".repeat(5_000_000) } };
  const more = { thread: [{ id: "first" }, { id: "second" }] };
  const order = { run, more, example: null };
  const value = [5_000_000, "second", true];
  const code =
    "function performEval(run, example, more) { return [run.outputs.text.length, more.thread[1].id, example === null] }";
  expect(await js(code, order)).toMatchObject({ value });
  const named =
    "def perform_eval(run, example, thread):\n    return [len(run.outputs['text']), thread[1].id, example is None]";
  expect(await python(named, order)).toMatchObject({ value });
  expect(await js(code, { run: { text: "x".repeat(20_000_000) } })).toMatchObject({ ok: false, kind: "memory" });
});

test("an aborted evaluation ends at once", async () => {
  const abort = new AbortController();
  const running = js("function performEval() { for (;;); }", { signal: abort.signal });
  setTimeout(() => abort.abort(), 300);
  const started = performance.now();
  expect(await running).toMatchObject({ ok: false, kind: "unavailable" });
  expect(performance.now() - started).toBeLessThan(3000);
});

test("a server that does not evaluate code says so", async () => {
  const off = codeRunner({ HEDDLE_CODE_EVALUATORS: "off" });
  expect(await off.js("export default () => 1")).toMatchObject({
    kind: "unavailable",
    message: expect.stringContaining("HEDDLE_CODE_EVALUATORS"),
  });
  const without = codeRunner({ HEDDLE_CODE_EVALUATOR_PYTHON: "/no/such/python" });
  expect(await without.python("def perform_eval(run): return 1")).toMatchObject({
    kind: "unavailable",
    message: expect.stringContaining("/no/such/python"),
  });
  expect(off.runner.processes + without.runner.processes).toBe(0);
});
