"""Masks personal data and secrets in traces before they leave the process.

The rules are those of `host-kit/src/masking`, from whose shapes `masking_shapes` is generated; both are tested on
`labelled.json` there.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

from . import masking_shapes as shapes

MASKED = "[masked]"
# fields of a run that hold its values
VALUE_FIELDS = ("inputs", "outputs", "error", "events", "extra", "serialized")
_RUN_FIELDS = (*VALUE_FIELDS, "name", "tags")
# feedback is masked by the platform, since a host sends none
_FIELDS = (*_RUN_FIELDS, "metadata", "attachments", "feedback")
# of a rule that names none; metadata name threads and models, names and tags are those of code
_DEFAULT_FIELDS = ("inputs", "outputs", "error", "events")
DETECTORS = tuple(shapes.SHAPES)
_LONG_CHARACTER = re.compile("[\U00010000-\U0010ffff]")


def _is_local_phone(found: str) -> bool:
    most = 15 if found.startswith("00") else 13
    return 8 <= len(re.sub(r"[^0-9]", "", found)) <= most and shapes.NO_PHONE.match(found) is None


def _is_card(found: str) -> bool:
    """ISO/IEC 7812: the last digit is by Luhn's algorithm."""
    text = re.sub(r"[^0-9]", "", found)
    if shapes.CARD.fullmatch(text) is None or len(set(text)) == 1:
        return False
    digits = [int(char) for char in text]
    double = [digit * 2 - 9 if digit > 4 else digit * 2 for digit in digits[-2::-2]]
    return (sum(digits[::-2]) + sum(double)) % 10 == 0


def _is_iban(found: str) -> bool:
    """ISO 13616: the remainder by 97 is 1."""
    text = re.sub(r"[ -]", "", found).upper()
    at = shapes.IBAN_LENGTHS.find(text[:2])
    if at % 4 != 0 or len(text) != int(shapes.IBAN_LENGTHS[at + 2 : at + 4]):
        return False
    return int("".join(str(int(char, 36)) for char in text[4:] + text[:4])) % 97 == 1


def _has_digit(found: str) -> bool:
    return any(char.isdigit() for char in found)


def _is_basic_auth(found: str) -> bool:
    """RFC 7617: name and password, separated by a colon, in Base64."""
    encoded = found.replace("=", "")
    if len(encoded) % 4 == 1:
        return False
    text = base64.b64decode(encoded + "=" * (-len(encoded) % 4)).decode("latin-1")
    return re.fullmatch(r"[ -~]*:[ -~]*", text) is not None


_CHECKS: dict[str, Callable[[str], bool]] = {
    "local_phone": _is_local_phone,
    "card": _is_card,
    "iban": _is_iban,
    "has_digit": _has_digit,
    "basic_auth": _is_basic_auth,
}


@dataclass(frozen=True)
class Masking:
    """A rule for a field of a run. `path`: `*` is any name or index, and what is below is included."""

    path: tuple[str, ...] = ()
    # the whole field, which keeps its type when it is masked
    is_field: bool = False
    detectors: tuple[str, ...] = ()
    pattern: re.Pattern[str] | None = None
    replacement: str | None = None

    @property
    def is_whole(self) -> bool:
        return not self.detectors and self.pattern is None


class Masker:
    """Masks runs."""

    def __init__(self, rules: list[Masking]) -> None:
        """Paths of `rules` begin with the field of a run."""
        self._rules = rules

    def mask_run(self, text: bytes) -> bytes:
        """Masks the JSON text of a run."""
        run = json.loads(text)
        masked = _mask_run(run, self._rules)
        return text if masked == run else json.dumps(masked).encode()

    def mask_files(self, files: dict[str, Any]) -> dict[str, Any]:
        """Masks attachments: names, and contents of text. A rule that masks them as a whole drops them."""
        rules = [replace(rule, path=rule.path[1:]) for rule in self._rules if rule.path[0] == "attachments"]
        if any(rule.is_whole and not rule.path for rule in rules):
            return {}
        masked: dict[str, Any] = {}
        for name, file in files.items():
            media_type, data = file if isinstance(file, tuple) else ("application/octet-stream", file)
            if isinstance(data, bytes | bytearray) and shapes.TEXT.search(str(media_type)):
                text = data.decode("utf-8", "replace")
                changed = mask_text(text, rules)
                data = data if changed == text else changed.encode("utf-8", "replace")
            masked[mask_text(str(name), rules)] = (media_type, data)
        return masked

    def mask_batch(self, body: bytes) -> bytes:
        """Masks the body of a batch of runs: `{"post": [run, …], "patch": [run, …]}`."""
        value = json.loads(body)
        masked = {kind: [_mask_run(run, self._rules) for run in runs] for kind, runs in value.items()}
        return body if masked == value else json.dumps(masked).encode()


def _mask_run(run: dict[str, Any], rules: list[Masking]) -> dict[str, Any]:
    try:
        return _mask(run, rules, ())
    except Exception:
        # what cannot be masked must not be sent
        return {name: value for name, value in run.items() if name not in _RUN_FIELDS}


def read_masking(text: str | None) -> Masker | None:
    """Reads `HEDDLE_TRACE_MASKING`: names of detectors, or a JSON list of rules. Raises ValueError."""
    trimmed = (text or "").strip()
    if not trimmed:
        return None
    if not trimmed.startswith("["):
        detectors = tuple(_detector(name.strip()) for name in trimmed.split(","))
        return Masker([Masking(path=(name,), detectors=detectors) for name in _DEFAULT_FIELDS])
    rules: list[Masking] = []
    for each in json.loads(trimmed):
        if not isinstance(each, dict):
            raise ValueError("a rule must be an object")
        each = cast(dict[str, Any], each)
        path, pattern = _text(each, "path"), _text(each, "pattern")
        rule = Masking(
            path=tuple(path.split(".")) if path else (),
            is_field=not path,
            detectors=tuple(_detector(name) for name in _list(each, "detectors", ())),
            pattern=None if pattern is None else re.compile(pattern),
            replacement=_text(each, "replacement"),
        )
        # each field once, in the order given
        for name in dict.fromkeys(_list(each, "fields", _DEFAULT_FIELDS)):
            if name not in _FIELDS:
                raise ValueError(f"fields must be a list of {', '.join(_FIELDS)}")
            field = ("extra", "metadata") if name == "metadata" else (name,)
            rules.append(replace(rule, path=(*field, *rule.path)))
    return Masker(rules)


def _text(rule: dict[str, Any], key: str) -> str | None:
    if key in rule and not isinstance(rule[key], str):
        raise ValueError(f"{key} must be a text")
    return rule.get(key)


def _list(rule: dict[str, Any], key: str, default: tuple[str, ...]) -> list[Any]:
    value = rule.get(key, list(default))
    if not isinstance(value, list):
        raise ValueError(f"{key} must be a list")
    return cast(list[Any], value)


def trace_masking(text: str | None, log: Callable[[str], None]) -> Masker | None:
    """Reads the rules of this process. Of a setting that cannot be read, the traces keep no values."""
    try:
        return read_masking(text)
    except Exception as error:
        log(f"HEDDLE_TRACE_MASKING: {error}. Until it is corrected, traces contain no values.")
        return everything()


def everything() -> Masker:
    """Masks all values: for a setting that cannot be read."""
    return Masker([Masking(path=(name,), is_field=True) for name in (*VALUE_FIELDS, "attachments")])


def mask_text(text: str, rules: list[Masking], path: tuple[str, ...] = (), name: str = "") -> str:
    """Masks within a text at a path of its field, or in the name of one. `name`: of the field."""
    for rule in rules:
        if not _is_below(rule.path, path):
            continue
        named = _detector_by_name(_code_units(name), _code_units(text))
        if named is not None and named in rule.detectors:
            text = f"[{named}]" if rule.replacement is None else rule.replacement
            continue
        for detector in DETECTORS:
            if detector in rule.detectors:
                text = _replace(detector, text, f"[{detector}]" if rule.replacement is None else rule.replacement)
        if rule.pattern is not None:
            instead = MASKED if rule.replacement is None else rule.replacement
            text = rule.pattern.sub(lambda _: instead, text)  # noqa: B023
    return text


def _detector_by_name(name: str, text: str) -> str | None:
    """Returns the detector that the name of a field decides for its text."""
    if not name or not text or len(name) > 80:
        return None
    if shapes.SECRET_NAME.fullmatch(name):
        return "secret"
    return "phone" if shapes.PHONE_NAME.fullmatch(name) and shapes.BARE_PHONE.fullmatch(text) else None


def _code_units(text: str) -> str:
    """Splits characters into UTF-16 code units, which the shapes count; `_characters` joins them."""
    return _LONG_CHARACTER.sub(lambda match: _split(match.group()), text)


def _split(char: str) -> str:
    high, low = divmod(ord(char) - 0x10000, 0x400)
    return chr(0xD800 + high) + chr(0xDC00 + low)


def _characters(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _replace(detector: str, text: str, replacement: str) -> str:
    units = _code_units(text)
    found = _replace_units(detector, units, replacement)
    return text if found is units else found if units is text else _characters(found)


def _replace_units(detector: str, text: str, replacement: str) -> str:
    for pattern, check in shapes.SHAPES[detector]:

        def instead(match: re.Match[str], check: str | None = check) -> str:
            before = match.group(1) if match.re.groups else ""
            if check is not None and not _CHECKS[check](match.group()[len(before) :]):
                return match.group()
            return before + replacement

        text = pattern.sub(instead, text)
    return text


def _mask(value: Any, rules: list[Masking], path: tuple[str, ...], name: str = "") -> Any:
    whole = next((rule for rule in rules if rule.is_whole and _is_at(rule.path, path)), None)
    if whole is not None:
        if whole.is_field and isinstance(value, dict | list):
            return type(value)()  # pyright: ignore[reportUnknownVariableType]
        return MASKED if whole.replacement is None else whole.replacement
    if isinstance(value, str):
        return mask_text(value, rules, path, name)
    if isinstance(value, dict):
        return {
            mask_text(str(key), rules, path): _mask(each, rules, (*path, str(key)), str(key))  # pyright: ignore[reportUnknownArgumentType]
            for key, each in value.items()  # pyright: ignore[reportUnknownVariableType]
        }
    if isinstance(value, list):
        return [_mask(each, rules, (*path, str(i)), name) for i, each in enumerate(value)]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return value


def _is_below(wanted: tuple[str, ...], path: tuple[str, ...]) -> bool:
    return len(wanted) <= len(path) and all(name in ("*", path[i]) for i, name in enumerate(wanted))


def _is_at(wanted: tuple[str, ...], path: tuple[str, ...]) -> bool:
    return len(wanted) == len(path) and _is_below(wanted, path)


def _detector(name: Any) -> str:
    if name not in DETECTORS:
        raise ValueError(f"there is no detector {json.dumps(name)}; choose of {', '.join(DETECTORS)}")
    return str(name)
