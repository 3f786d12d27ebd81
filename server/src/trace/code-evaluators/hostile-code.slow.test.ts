import { createServer } from "node:net";
import { runInNewContext } from "node:vm";

import { describe, expect, test } from "vitest";

import { codeRunner } from "../../../test/code-runner.ts";
import { atEnd } from "../../../test/at-end.ts";

const SECONDS = "3";
const { runner, js, python } = codeRunner({ HEDDLE_CODE_EVALUATOR_SECONDS: SECONDS });
/** Reaches the limit of memory long before the timeout. */
const small = codeRunner({ HEDDLE_CODE_EVALUATOR_SECONDS: "60", HEDDLE_CODE_EVALUATOR_MEMORY_MB: "32" });
const unconfined = codeRunner({ HEDDLE_CODE_EVALUATOR_SECONDS: SECONDS, HEDDLE_CODE_EVALUATORS: "unconfined" });

const listener = createServer((socket) => void socket.destroy()).listen(0, "127.0.0.1");
await new Promise((resolve) => void listener.once("listening", resolve));
atEnd(() => listener.close());
const { port } = listener.address() as { port: number };

/** Reaches `os` and `sys` past the list of imports, through the classes that the interpreter has loaded. */
const ESCAPE = `
def perform_eval(run):
    os = [each for each in ().__class__.__base__.__subclasses__() if each.__name__ == "_wrap_close"][0].__init__.__globals__
    sys = os["sys"]
    importlib = sys.modules["importlib"]
`;
const escaped = (body: string) => ESCAPE + body.replaceAll(/^/gm, "    ");

const attacks: [attack: string, body: string][] = [
  ["reads a file", `return open("/etc/passwd").read(4)`],
  ["reads a file with os", `return os["read"](os["open"]("/etc/passwd", 0), 4).decode()`],
  [
    "writes a file",
    `return os["open"]("/tmp/heddle-hostile-evaluator", 65) > 0 and os["remove"]("/tmp/heddle-hostile-evaluator") is None`,
  ],
  ["lists a directory", `return os["listdir"]("/")`],
  ["reads the memory and files of processes", `return os["listdir"]("/proc/%d/fd" % os["getpid"]())`],
  [
    "opens a socket",
    `import_ = importlib.import_module\nsocket = import_("_socket").socket()\nsocket.connect(("127.0.0.1", ${port}))\nreturn True`,
  ],
  ["runs a program", `return os["system"]("exit 7") == 7 << 8`],
  ["replaces itself", `try:\n    os["execv"]("/no/such/program", ["a"])\nexcept FileNotFoundError:\n    return True`],
  ["forks", `pid = os["fork"]()\nif pid == 0: os["_exit"](0)\nreturn pid > 0`],
  ["starts a thread", `importlib.import_module("_thread").start_new_thread(print, ())\nreturn True`],
  ["signals other processes", `os["kill"](os["getppid"](), 0)\nreturn True`],
  ["asks for the system's name", `return os["uname"]().sysname`],
  [
    "calls the kernel by ctypes",
    `ctypes = importlib.import_module("ctypes")\nlibc = ctypes.CDLL(None)\nreturn libc.syscall(${process.arch === "x64" ? 102 : 174}) >= 0`,
  ],
  [
    "makes memory executable",
    `mmap = importlib.import_module("mmap")\nreturn len(mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC))`,
  ],
];

describe.runIf(process.platform === "linux")("Python", () => {
  test.each(attacks)("code that %s gets an error", async (_attack, body) => {
    const code = escaped(body);
    expect(await unconfined.python(code), "the attack works").toMatchObject({ ok: true });
    const result = await python(code);
    // os.system returns an exit code where the shell cannot be started
    const answer = result.ok ? `returned ${String(result.value)}` : result.message;
    expect(answer).toMatch(/PermissionError|ImportError|ModuleNotFoundError|can't start new thread|^returned false$/);
    expect(await python("def perform_eval(run): return 1")).toMatchObject({ ok: true });
  });

  test("code sees an empty environment, and nothing of earlier evaluations in the memory that it inherits", async () => {
    const secret = "marker-" + "s3cr3t";
    await python("def perform_eval(run): return run.outputs", { run: { outputs: secret }, tenantId: "other" });
    const code = escaped(`
gc = importlib.import_module("gc")
found = [each for each in gc.get_objects() if isinstance(each, dict) and any(value == "marker-" + "s3cr3t" for value in list(each.values()) if isinstance(value, str))]
return [len(found), [name for name in os["environ"] if name != "LC_CTYPE"], "evaluator" in str(run)]`);
    expect(await python(code)).toMatchObject({ ok: true, value: [0, [], false] });
  });

  test("changes of builtins and modules end with the evaluation", async () => {
    const poison = escaped(
      `sys.modules["json"].dumps = None\nlen.__self__.len = None\nsys.modules["math"].pi = 3\nreturn 1`,
    );
    // this breaks what writes the reply
    expect(await python(poison)).toMatchObject({ ok: false });
    const code = "import math, json\ndef perform_eval(run): return [len(json.dumps(run)) > 0, math.pi > 3.1]";
    expect(await python(code)).toMatchObject({ value: [true, true] });
  });

  test.each([
    ["writes its own reply and more", `os["write"](4, b"\\0\\0\\0\\2{}" * 3)`],
    ["floods its reply", `os["write"](4, b"x" * (32 << 20))`],
    ["ends its interpreter", `os["_exit"](0)`],
    [
      "closes its descriptors",
      `for each in range(64):\n    try:\n        os["close"](each)\n    except OSError:\n        pass`,
    ],
    ["crashes the interpreter", `sys.setrecursionlimit(10**9)\ndef down(x): return down([x])\ndown(1)`],
  ])("code that %s harms its own result only", async (_attack, body) => {
    const order = { run: { outputs: "x".repeat(1_000_000) }, tenantId: "hostile" };
    expect(await python(escaped(body), order)).toMatchObject({ ok: false });
    expect(await python("def perform_eval(run): return run.outputs['answer']")).toEqual({
      ok: true,
      value: "4",
      logs: "",
    });
  });

  test.each([
    ["a loop", "while True: pass"],
    [
      "a loop that catches everything",
      "while True:\n        try:\n            while True: pass\n        except BaseException: pass",
    ],
    ["a loop in the interpreter", "return sum(range(10**12))"],
    ["a regular expression", "import re\n    return re.match('(a+)+$', 'a' * 60 + 'b')"],
    ["sleep", "import time\n    time.sleep(60)"],
  ])("%s ends at the timeout", async (_attack, body) => {
    const started = performance.now();
    const code = `def perform_eval(run):\n    ${body}`;
    expect(await python(code, { timeoutMs: 300 })).toMatchObject({ ok: false, kind: "timeout" });
    expect(performance.now() - started).toBeLessThan(2500);
  });

  test.each([
    ["many objects", "held = []\n    while True: held.append('x' * 100000 + str(len(held)))"],
    ["one object", "return len('x' * (1 << 40))"],
    ["a number", "return 1 << (1 << 36)"],
  ])("%s beyond the memory limit fail", async (_attack, body) => {
    expect(await small.python(`def perform_eval(run):\n    ${body}`)).toMatchObject({ kind: "memory" });
  });

  test("output is bounded", async () => {
    const value = await python("def perform_eval(run): return 'x' * 2_000_000");
    expect(value).toMatchObject({ kind: "error", message: expect.stringContaining("the limit is 1048576") });
    const printed = await python(
      "def perform_eval(run):\n    for each in range(20000): print('x' * 1000)\n    return 1",
    );
    expect(printed).toMatchObject({ ok: true });
    expect(printed.logs).toHaveLength(64 * 1024);
    const raised = await python("def perform_eval(run): raise ValueError('x' * 1_000_000)");
    expect((raised as { message: string }).message.length).toBeLessThanOrEqual(8 * 1024);
  });
});

describe("JavaScript", () => {
  const reached = `typeof process !== "undefined" || typeof require !== "undefined" || typeof WebAssembly !== "undefined" || typeof setTimeout !== "undefined"`;

  test("code that climbs to the constructor of functions stays in its instance", async () => {
    const climb = `(host) => host.constructor.constructor("return typeof process")()`;
    // node:vm shares its objects with code, so that the same climb leaves it
    expect((runInNewContext(climb) as (host: object) => string)({})).toBe("object");
    expect(await js(`export default ${climb}`)).toMatchObject({ ok: true, value: "undefined" });
    expect(await js(`export default () => console.log.constructor('return ${reached}')()`)).toMatchObject({
      value: false,
    });
    expect(await js(`const performEval = () => (0, eval)('${reached}')`)).toMatchObject({ value: false });
  });

  test.each([
    "node:fs",
    "fs",
    "./javascript-process.mjs",
    "file:///etc/passwd",
    "data:text/javascript,1",
    "quickjs-wasi",
  ])("import of %s fails", async (name) => {
    const message = expect.stringContaining("evaluators have no modules");
    expect(await js(`import * as it from "${name}"; export default () => 1`)).toMatchObject({ ok: false, message });
    const dynamic = await js(`const performEval = async () => Object.keys(await import("${name}"))`);
    expect(dynamic).toMatchObject({ ok: false, message });
    expect(JSON.stringify(dynamic)).not.toContain("code-evaluators");
  });

  test("code that pollutes prototypes and globals does not reach the next evaluation", async () => {
    const poison = `
      Object.prototype.polluted = "yes"; Array.prototype.map = null; globalThis.kept = 1;
      JSON.stringify = () => '{"forged":true}'; JSON.parse = null; Promise.prototype.then = null;
      const performEval = () => ({ mine: 1 });`;
    expect(await js(poison, { tenantId: "hostile" })).toMatchObject({ ok: true, value: { mine: 1 } });
    const code = `const performEval = (run) => [typeof {}.polluted, typeof kept, JSON.stringify(run.outputs), [1].map((x) => x)]`;
    expect(await js(code)).toMatchObject({ value: ["undefined", "undefined", '{"answer":"4"}', [1]] });
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    const own = await js(`const performEval = () => JSON.parse('{"__proto__": {"polluted": "yes"}}')`);
    expect(own).toMatchObject({ ok: true });
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test.each([
    ["a loop", "for (;;);"],
    ["a loop that catches everything", "for (;;) { try { for (;;); } catch {} finally { continue; } }"],
    ["asynchronous functions without end", "return (async () => { for (;;) await 0; })()"],
    ["a regular expression", "return /^(a+)+$/.test('a'.repeat(60) + 'b')"],
    ["a native function that nothing interrupts", "return 'ab'.repeat(5e7).replaceAll('a', 'bb').length"],
    [
      "a getter of the error",
      "const e = new Error(); Object.defineProperty(e, 'message', { get() { for (;;); } }); throw e",
    ],
    ["a conversion of the result", "return { toJSON() { for (;;); } }"],
  ])("%s ends at the timeout", async (_attack, body) => {
    const started = performance.now();
    expect(await js(`function performEval() { ${body} }`, { timeoutMs: 300 })).toMatchObject({
      ok: false,
      kind: "timeout",
    });
    expect(performance.now() - started).toBeLessThan(2500);
    expect(await js("const performEval = () => 1")).toMatchObject({ ok: true });
  });

  test.each([
    ["a loop at the top", "for (;;);"],
    ["a module's loop at the top", "export default 1; for (;;);"],
  ])("%s ends at the timeout", async (_attack, code) => {
    expect(await js(code, { timeoutMs: 300 })).toMatchObject({ ok: false, kind: "timeout" });
  });

  test.each([
    ["many objects", "const held = []; for (;;) held.push('x'.repeat(1e6) + held.length)"],
    ["buffers", "const held = []; for (;;) held.push(new Uint8Array(1e7))"],
    ["a list", "return new Array(3e7).fill(0).map((_, index) => -index).length"],
  ])("%s beyond the memory limit fail", async (_attack, body) => {
    expect(await small.js(`function performEval() { ${body} }`)).toMatchObject({
      ok: false,
      kind: "memory",
    });
    expect(await js("const performEval = () => 1")).toMatchObject({ ok: true });
  });

  test("recursion ends as an error", async () => {
    const code = "const performEval = () => (function down() { return down() + 1 })()";
    expect(await js(code)).toMatchObject({ kind: "error", message: expect.stringContaining("call stack") });
    expect(
      await js("const performEval = () => { let o = {}; for (let i = 0; i < 1e6; i++) o = { o }; return o }"),
    ).toMatchObject({ ok: false });
    const deep = "const performEval = () => { let o = []; for (let i = 0; i < 1500; i++) o = [o]; return o }";
    expect(await js(deep)).toMatchObject({ ok: false, kind: "error" });
  });

  test("output is bounded", async () => {
    const value = await js("const performEval = () => 'x'.repeat(2e6)");
    expect(value).toMatchObject({ kind: "error", message: expect.stringContaining("the limit is 1048576") });
    const printed = await js(
      "const performEval = () => { for (let i = 0; i < 20000; i++) console.log('x'.repeat(1000)); return 1 }",
      { timeoutMs: 20_000 },
    );
    expect(printed).toMatchObject({ ok: true });
    expect(printed.logs).toHaveLength(64 * 1024);
    const thrown = await js("const performEval = () => { throw new Error('x'.repeat(1e6)) }");
    expect((thrown as { message: string }).message.length).toBeLessThanOrEqual(8 * 1024);
  });
});

test("200 evaluations of two tenants end, and take turns", async () => {
  const order: string[] = [];
  const start = async (tenantId: string, language: "javascript" | "python", n: number) => {
    const code =
      language === "python"
        ? `def perform_eval(run): return [run.n, run.tenant]`
        : "const performEval = (run) => [run.n, run.tenant]";
    const evaluation = language === "python" ? python : js;
    const result = await evaluation(code, { tenantId, run: { n, tenant: tenantId } });
    order.push(tenantId);
    expect(result).toMatchObject({ ok: true, value: [n, tenantId] });
  };
  // all processes are started before
  const sleep = "import time\ndef perform_eval(run): time.sleep(0.5)";
  await Promise.all([python(sleep), python(sleep, { tenantId: "t2" })]);
  const loop = "const performEval = () => { const end = Date.now() + 500; while (Date.now() < end); }";
  await Promise.all([js(loop), js(loop, { tenantId: "t2" })]);
  const all = Array.from({ length: 150 }, (_, n) => start("flood", n % 2 === 0 ? "python" : "javascript", n));
  all.push(...Array.from({ length: 50 }, (_, n) => start("small", n % 2 === 0 ? "python" : "javascript", n)));
  await Promise.all(all);
  // the small tenant's last evaluation ends after about as many of the other's
  expect(order.lastIndexOf("small")).toBeLessThan(130);
  expect(runner.processes).toBeLessThanOrEqual(4);
});
