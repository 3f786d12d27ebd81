"""
Evaluates an order in a separate process, which is confined already. What the code may import is loaded beforehand.
The list is for clear messages; the process's confinement protects the server.
"""

import builtins
import decimal
import fractions
import importlib
import inspect
import json
import linecache
import os
import random
import signal
import struct
import sys
import traceback
import types

FILE = "evaluator.py"
IS_REQUEST = 0x80000000
# of a traceback
MAX_LINES = 40
NAMES = ("perform_eval", "performEval", "evaluate", "evaluator")
MODULES = """
    __future__ abc array ast base64 binascii bisect calendar cmath codecs collections collections.abc contextlib copy
    csv dataclasses datetime decimal difflib enum fnmatch fractions functools hashlib heapq hmac html html.parser io
    ipaddress itertools json keyword math numbers operator pprint random re reprlib secrets statistics string struct
    textwrap time types typing unicodedata urllib urllib.parse uuid warnings weakref xml.etree.ElementTree zlib
""".split()
# imported by functions of the above when they are first called
LATER = ("_strptime", "encodings.idna", "encodings.latin_1", "encodings.ascii", "encodings.utf_16", "stringprep")
# dropped, with all that refers to the kernel, before the code runs
DROPPED = ("ctypes", "_ctypes", "python_confinement", "resource", "select")

for _name in (*MODULES, *LATER):
    importlib.import_module(_name)
PACKAGES = {name.split(".")[0] for name in (*MODULES, *LATER)}


class Late(BaseException):
    """Raised in the code at its timeout."""


class Record(dict):
    """A run or example: keys are attributes too, as on the objects that evaluators of the SDK get."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class Output:
    """Replaces the standard output; keeps the first `limit` characters."""

    def __init__(self, limit):
        self._parts, self._left = [], limit

    def write(self, text):
        text = str(text)
        if self._left > 0:
            self._parts.append(text[: self._left])
            self._left -= len(self._parts[-1])
        return len(text)

    def flush(self):
        pass

    def isatty(self):
        return False

    def text(self):
        return "".join(self._parts)


class Failure(Exception):
    """A reply that says why there is no value."""

    def __init__(self, kind, message):
        self.kind, self.message = kind, message


def evaluate(orders, replies, limits):
    """Reads an order, evaluates it and writes the reply. The code may do the latter itself: it is the code's own."""
    order = json.loads(_read_frame(orders))
    request = None
    if limits["network"]:
        request = _request(orders, replies)
    else:
        os.close(orders)
    dumps, write_frame = json.dumps, _write_frame
    output = Output(limits["maxLogs"])
    try:
        reply = {"ok": True, "value": _evaluate(order, output, limits["maxValue"], request)}
    except Failure as failure:
        reply = {"ok": False, "kind": failure.kind, "message": failure.message[: limits["maxMessage"]]}
    except MemoryError:
        reply = {"ok": False, "kind": "memory", "message": "MemoryError"}
    write_frame(replies, dumps({**reply, "logs": output.text()}))


def _evaluate(order, output, max_value, request):
    """Returns the value as JSON."""
    dumps, loads = json.dumps, json.loads
    module = _prepare(order["code"], output, request)
    signal.signal(signal.SIGALRM, _late)
    signal.setitimer(signal.ITIMER_REAL, order["timeoutMs"] / 1000)
    try:
        code = compile(order["code"], FILE, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise Failure("syntax", _explain(error)) from None
    try:
        exec(code, module.__dict__)
        functions = [module.__dict__[name] for name in NAMES if callable(module.__dict__.get(name))]
        if not functions:
            raise Failure("syntax", "The code declares no function perform_eval(run, example).")
        if order["check"]:
            return "null"
        value = _call(functions[0], loads(order["input"]))
        text = dumps(value, allow_nan=False, ensure_ascii=False, default=_encode)
    except Failure:
        raise
    except Late as error:
        late = f"The code ran longer than {order['timeoutMs'] / 1000:g} s."
        raise Failure("timeout", "\n".join([late, *_lines(error)])) from None
    except BaseException as error:
        kind = "memory" if isinstance(error, MemoryError) else "error"
        raise Failure(kind, _explain(error)) from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    if len(text) > max_value:
        raise Failure("error", f"The function returned {len(text)} characters of JSON; the limit is {max_value}.")
    return text


def _prepare(code, output, request):
    """Creates the module of the code."""
    for name in DROPPED:
        sys.modules.pop(name, None)
    sys.stdout = sys.stderr = output
    random.seed()
    # for the lines in tracebacks
    linecache.cache[FILE] = (len(code), None, code.splitlines(keepends=True), FILE)
    module = sys.modules["evaluator"] = types.ModuleType("evaluator")
    real = builtins.__import__

    def import_(name, globals=None, locals=None, fromlist=(), level=0):
        if level == 0 and (name in sys.modules and name.split(".")[0] in PACKAGES):
            return real(name, globals, locals, fromlist, level)
        raise ImportError(f"Evaluators cannot import {name!r}; they can import {', '.join(MODULES)}.")

    module.__dict__["__builtins__"] = {
        **vars(builtins),
        "__import__": import_,
        "http_request": request or _no_network,
    }
    return module


def _request(orders, replies):
    """Returns the function by which code sends requests, which the server performs."""

    def http_request(url, method="GET", headers=None, body=None):
        """Returns a record of `status`, `headers` and `text`. `body`: a string, or what is sent as JSON."""
        headers = dict(headers or {})
        if body is not None and not isinstance(body, str):
            body = json.dumps(body)
            headers.setdefault("content-type", "application/json")
        order = {"url": str(url), "method": method, "headers": headers, "body": body}
        _write_frame(replies, json.dumps(order), IS_REQUEST)
        answer = json.loads(_read_frame(orders))
        if "error" in answer:
            raise OSError(answer["error"])
        return Record(answer)

    return http_request


def _no_network(*_arguments, **_names):
    raise OSError("Evaluators have no network; the operator allows hosts with HEDDLE_CODE_EVALUATOR_HOSTS.")


def _call(function, given):
    run = _record(given["run"])
    example = None if given["example"] is None else Record(given["example"])
    more = {name: _records(value) for name, value in (given["more"] or {}).items()}
    named = {
        **more,
        "run": run,
        "example": example,
        "inputs": run.get("inputs"),
        "outputs": run.get("outputs"),
        "reference_outputs": example.get("outputs") if example else None,
    }
    value = function(*_arguments(function, (run, example, more), named))
    if not inspect.iscoroutine(value):
        return value
    try:
        value.send(None)
    except StopIteration as done:
        return done.value
    raise RuntimeError("The function awaits something that never happens: evaluators have no event loop.")


def _arguments(function, positional, named):
    """By name, where all parameters have names that are known, as with evaluators of the SDK; else by position."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return positional[:2]
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    places = [each for each in parameters if each.kind in kinds]
    if places and all(each.name in named for each in places):
        return [named[each.name] for each in places]
    if any(each.kind == inspect.Parameter.VAR_POSITIONAL for each in parameters):
        return positional
    return positional[: max(len(places), 1)]


def _records(value):
    if isinstance(value, dict):
        return _record(value)
    return [_records(each) for each in value] if isinstance(value, list) else value


def _record(run):
    """Returns a record, of a run also with records of the runs below it."""
    record = Record(run)
    if isinstance(record.get("child_runs"), list):
        record["child_runs"] = _records(record["child_runs"])
    return record


def _encode(value):
    if isinstance(value, (decimal.Decimal, fractions.Fraction)):
        return float(value)
    raise TypeError(f"The function returned a {type(value).__name__}, which JSON cannot represent.")


def _late(_signal, _frame):
    raise Late()


def _explain(error):
    """Traceback with the lines of the code alone: those of the interpreter's files tell about the server."""
    try:
        last = "".join(traceback.format_exception_only(type(error), error)).strip()
    except BaseException:
        last = type(error).__name__
    return "\n".join([*_lines(error), last])


def _lines(error):
    lines = []
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == FILE:
            lines += [f'  File "{FILE}", line {frame.lineno}, in {frame.name}', f"    {frame.line}"]
    return ["Traceback (most recent call last):", *lines[-MAX_LINES:]] if lines else []


def _write_frame(descriptor, text, flag=0):
    body = text.encode()
    rest = struct.pack(">I", flag + len(body)) + body
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _read_frame(descriptor):
    return _read(descriptor, struct.unpack(">I", _read(descriptor, 4))[0])


def _read(descriptor, size):
    parts = []
    while size > 0:
        part = os.read(descriptor, min(size, 1 << 20))
        if not part:
            os._exit(1)
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
