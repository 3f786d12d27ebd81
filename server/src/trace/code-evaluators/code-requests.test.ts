import { createServer } from "node:http";

import { expect, test } from "vitest";

import { atEnd } from "../../../test/at-end.ts";
import { codeRunner } from "../../../test/code-runner.ts";

const received: { method: string; url: string; body: string; header: unknown }[] = [];
const server = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk: Buffer) => (body += chunk.toString()));
  request.on("end", () => {
    received.push({ method: request.method!, url: request.url!, body, header: request.headers["x-test"] });
    if (request.url === "/large") return response.end("x".repeat(2_000_000));
    if (request.url === "/away") return response.writeHead(302, { location: "http://127.0.0.1:1/" }).end();
    response.setHeader("x-answer", "yes").end(JSON.stringify({ method: request.method, body }));
  });
}).listen(0, "127.0.0.1");
await new Promise((resolve) => void server.once("listening", resolve));
atEnd(() => {
  server.closeAllConnections();
  server.close();
});
const host = `127.0.0.1:${(server.address() as { port: number }).port}`;
const url = `http://${host}`;

const { js, python, runner } = codeRunner({ HEDDLE_CODE_EVALUATOR_HOSTS: host, HEDDLE_OUTBOUND_ALLOW: host });
const closed = codeRunner();
const guarded = codeRunner({ HEDDLE_CODE_EVALUATOR_HOSTS: host });

test("JavaScript reaches listed hosts with fetch", async () => {
  const code = `async function performEval(run) {
    const responses = await Promise.all([1, 2].map((n) => fetch("${url}/score", { method: "POST", headers: { "x-test": "a" }, body: String(n) })));
    const answers = await Promise.all(responses.map((response) => response.json()));
    return [responses[0].ok, responses[0].headers.get("X-Answer"), answers.map((answer) => answer.body)];
  }`;
  expect(await js(code)).toEqual({ ok: true, value: [true, "yes", ["1", "2"]], logs: "" });
  expect(received.at(-1)).toEqual({ method: "POST", url: "/score", body: "2", header: "a" });
  expect(runner.processes).toBe(0);
});

test("answers that arrive together are told apart", async () => {
  const code = `async function performEval() {
    const numbers = Array.from({ length: 8 }, (_, n) => n);
    const responses = await Promise.all(numbers.map((n) => fetch("${url}/score", { method: "POST", body: String(n) })));
    return (await Promise.all(responses.map((response) => response.json()))).map((answer) => answer.body);
  }`;
  for (let turn = 0; turn < 5; turn++) {
    expect(await js(code)).toMatchObject({ ok: true, value: ["0", "1", "2", "3", "4", "5", "6", "7"] });
  }
});

test("Python reaches listed hosts with http_request", async () => {
  const code = `
def perform_eval(run):
    answer = http_request("${url}/score", method="POST", body={"n": 1}, headers={"x-test": "b"})
    again = http_request("${url}/score")
    return [answer.status, answer.headers["x-answer"], answer.text, again.status]
`;
  const text = JSON.stringify({ method: "POST", body: '{"n": 1}' });
  expect(await python(code)).toEqual({ ok: true, value: [200, "yes", text, 200], logs: "" });
});

test.each([
  ["another host", "http://127.0.0.1:1/", "HEDDLE_CODE_EVALUATOR_HOSTS"],
  ["another scheme", "file:///etc/passwd", "is not a URL of http or https"],
  ["no URL", "nowhere", "is not a URL of http or https"],
  ["a listed name with a suffix", `http://${host}.example.com/`, "is not a URL|HEDDLE_CODE_EVALUATOR_HOSTS"],
  ["a response that is too large", `${url}/large`, "1048576|larger|exceeds"],
])("a request to %s fails", async (_target, target, message) => {
  const inJs = await js(`const performEval = async () => (await fetch("${target}")).status`);
  expect(inJs).toMatchObject({ ok: false, kind: "error", message: expect.stringMatching(message) });
  const inPython = await python(`def perform_eval(run): return http_request("${target}").status`);
  expect(inPython).toMatchObject({ ok: false, kind: "error", message: expect.stringMatching(message) });
});

test("redirects are not followed", async () => {
  expect(await js(`const performEval = async () => (await fetch("${url}/away")).status`)).toMatchObject({ value: 302 });
});

test("without a list there is no network, and private addresses need the guard's permission too", async () => {
  const code = `const performEval = async () => (await fetch("${url}/")).status`;
  const python = `def perform_eval(run): return http_request("${url}/").status`;
  const message = expect.stringContaining("HEDDLE_CODE_EVALUATOR_HOSTS");
  expect(await closed.js(code)).toMatchObject({ ok: false, message });
  expect(await closed.python(python)).toMatchObject({ ok: false, message });
  const before = received.length;
  expect(await guarded.js(code)).toMatchObject({
    ok: false,
    message: expect.stringContaining("HEDDLE_OUTBOUND_ALLOW"),
  });
  expect(received.length).toBe(before);
});

test("the number of requests is limited, and their answers do not reach the next evaluation", async () => {
  const flood = `const performEval = async () => { for (;;) await fetch("${url}/") }`;
  expect(await js(flood)).toMatchObject({ ok: false });
  const unread = `def perform_eval(run):
    import struct
    os = [each for each in ().__class__.__base__.__subclasses__() if each.__name__ == "_wrap_close"][0].__init__.__globals__
    body = b'{"url": "${url}/"}'
    os["write"](4, struct.pack(">I", 0x80000000 + len(body)) + body)
    return 1`;
  expect(await python(unread)).toMatchObject({ ok: true });
  expect(await python("def perform_eval(run): return run.outputs['answer']")).toMatchObject({ value: "4" });
});
