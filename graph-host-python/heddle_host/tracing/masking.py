"""Masks personal data and secrets in traces before they leave the process.

The shapes and the rules are those of `host-kit/src/masking`; both are tested on `labelled.json` there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

MASKED = "[masked]"
FIELDS = ("inputs", "outputs", "error", "events", "extra", "serialized")
# of a rule that names none; metadata name threads and models
_DEFAULT_FIELDS = ("inputs", "outputs", "error", "events")
# in the order in which they are applied
DETECTORS = ("secret", "email", "iban", "card", "us_ssn", "phone", "ip")


def _is_local_phone(found: str) -> bool:
    digits = re.sub(r"[^0-9]", "", found)
    return 8 <= len(digits) <= 13 and re.fullmatch(r"[0-9]{3}-[0-9]{2}-[0-9]{4}", found) is None


def _is_card(found: str) -> bool:
    """ISO/IEC 7812: 13 to 19 digits, the last by Luhn's algorithm."""
    digits = [int(char) for char in found if char.isdigit()]
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1:
        return False
    double = [digit * 2 - 9 if digit > 4 else digit * 2 for digit in digits[-2::-2]]
    return (sum(digits[::-2]) + sum(double)) % 10 == 0


def _is_iban(found: str) -> bool:
    """ISO 13616: the remainder by 97 is 1."""
    text = found.replace(" ", "")
    return 15 <= len(text) <= 34 and int("".join(str(int(char, 36)) for char in text[4:] + text[:4])) % 97 == 1


def _has_digit(found: str) -> bool:
    return any(char.isdigit() for char in found)


def _shape(
    pattern: str, check: Callable[[str], bool] | None = None, flags: int = 0
) -> tuple[re.Pattern[str], Callable[[str], bool] | None]:
    return re.compile(pattern, re.ASCII | flags), check


# a first group is what stands before, and stays
_SHAPES = {
    "secret": [
        _shape(r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----[^-]{0,20000}(?:-----END [A-Z ]{0,30}-----)?"),
        _shape(r"(?<![\w-])eyJ[\w-]{8,4000}\.eyJ[\w-]{8,8000}\.[\w-]{8,2000}"),
        _shape(r"(?<!\w)(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?!\w)"),
        _shape(
            r"(?<!\w)(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{40,255}|glpat-[\w-]{20,64}|npm_[A-Za-z0-9]{36})"
        ),
        _shape(r"(?<!\w)(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,255}"),
        _shape(r"(?<![\w-])sk-(?:[a-z]{2,10}\d{0,2}-)?[A-Za-z0-9][\w-]{18,255}", _has_digit),
        _shape(r"(?<!\w)(?:xox[abeoprs]-[\w-]{10,255}|xapp-[\w-]{10,255})"),
        _shape(r"(?<!\w)(?:AIza[\w-]{35}|ya29\.[\w-]{20,500}|hf_[A-Za-z]{30,64}|lsv2_(?:pt|sk)_[\w]{20,100})"),
        _shape(r"(?<!\w)(?:SG\.[\w-]{16,64}\.[\w-]{16,64}|SK[0-9a-f]{32}|dop_v1_[0-9a-f]{64}|pypi-[\w-]{50,500})"),
        _shape(r"(://[^\s:/@]{0,64}:)[^\s:/@]{3,128}(?=@)"),
        _shape(r"(\bbearer )[\w.~+/-]{16,2000}=*", flags=re.IGNORECASE),
        _shape(
            r"((?:password|passwd|pwd|passphrase|secret|api[_-]?key|access[_-]?key|client[_-]?secret"
            r"|(?:access|auth|refresh|api)[_-]?token)[\"']?\s{0,3}[=:]\s{0,3}[\"']?)[^\s\"',;&[]{6,256}",
            flags=re.IGNORECASE,
        ),
    ],
    "email": [
        _shape(
            r"(?<![\w.%+-])[\w.%+'-]{1,64}@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,6}[a-z]{2,24}(?![\w-])",
            flags=re.IGNORECASE,
        )
    ],
    "iban": [_shape(r"(?<!\w)[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)", _is_iban)],
    "card": [_shape(r"(?<![\w.+-])[2-6]\d{3}(?:[ -]?\d){8,14}\d(?![\w]|[.-]\d)", _is_card)],
    "us_ssn": [_shape(r"(?<![\w-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])")],
    "phone": [
        _shape(r"(?<![\w+.,:/-])\+\d(?:[ ().-]{0,2}\d){6,14}(?![\w-]|[.,]\d)"),
        _shape(r"(?<![\w+.,:/-])\(?0\d{1,4}\)?(?:[ /-]{1,3}\d{2,6}){1,5}(?![\w-]|[.,]\d)", _is_local_phone),
        _shape(r"(?<![\w+.,:/-])(?:1[ .-])?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[ .-])[2-9]\d{2}[ .-]\d{4}(?![\w-]|[.,]\d)"),
    ],
    "ip": [
        _shape(
            r"(?<![\w.])(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?![\w]|\.\d)"
        ),
        _shape(r"(?<![\w:.])(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}(?![\w:])", flags=re.IGNORECASE),
        _shape(r"(?<![\w:.])(?:[0-9a-f]{1,4}:){1,6}(?::[0-9a-f]{1,4}){1,6}(?![\w:])", flags=re.IGNORECASE),
    ],
}
_SECRET_NAME = re.compile(
    r"(?:.{0,40}[_-])?(?:password|passwd|pwd|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key"
    r"|client[_-]?secret|authorization|cookie|credentials?|(?:access|auth|refresh|id|session|bearer|api)[_-]?token)",
    re.IGNORECASE,
)


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
        return {name: value for name, value in run.items() if name not in FIELDS}


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
        rule = Masking(
            path=tuple(each["path"].split(".")) if each.get("path") else (),
            is_field=not each.get("path"),
            detectors=tuple(_detector(name) for name in each.get("detectors") or ()),
            pattern=re.compile(each["pattern"]) if each.get("pattern") is not None else None,
            replacement=each.get("replacement"),
        )
        for name in each.get("fields") or _DEFAULT_FIELDS:
            if name != "metadata" and name not in FIELDS:
                raise ValueError(f"fields must be a list of {', '.join((*FIELDS, 'metadata'))}")
            field = ("extra", "metadata") if name == "metadata" else (name,)
            rules.append(replace(rule, path=(*field, *rule.path)))
    return Masker(rules)


def trace_masking(text: str | None, log: Callable[[str], None]) -> Masker | None:
    """Reads the rules of this process. Of a setting that cannot be read, the traces keep no values."""
    try:
        return read_masking(text)
    except Exception as error:
        log(f"HEDDLE_TRACE_MASKING: {error}. Until it is corrected, traces contain no values.")
        return everything()


def everything() -> Masker:
    """Masks all values: for a setting that cannot be read."""
    return Masker([Masking(path=(name,), is_field=True) for name in FIELDS])


def mask_text(text: str, rules: list[Masking], path: tuple[str, ...] = (), name: str = "") -> str:
    """Masks within a text at a path of its field, or in the name of one. `name`: of the field."""
    for rule in rules:
        if not _is_below(rule.path, path):
            continue
        if "secret" in rule.detectors and text and len(name) <= 80 and _SECRET_NAME.fullmatch(name):
            text = rule.replacement or "[secret]"
            continue
        for detector in DETECTORS:
            if detector in rule.detectors:
                text = _replace(detector, text, rule.replacement or f"[{detector}]")
        if rule.pattern is not None:
            text = rule.pattern.sub((rule.replacement or MASKED).replace("\\", "\\\\"), text)
    return text


def _replace(detector: str, text: str, replacement: str) -> str:
    for pattern, check in _SHAPES[detector]:

        def instead(match: re.Match[str], check: Callable[[str], bool] | None = check) -> str:
            if check is not None and not check(match.group()):
                return match.group()
            return (match.group(1) if match.re.groups else "") + replacement

        text = pattern.sub(instead, text)
    return text


def _mask(value: Any, rules: list[Masking], path: tuple[str, ...], name: str = "") -> Any:
    whole = next((rule for rule in rules if rule.is_whole and _is_at(rule.path, path)), None)
    if whole is not None:
        if whole.is_field and isinstance(value, dict | list):
            return type(value)()  # pyright: ignore[reportUnknownVariableType]
        return whole.replacement or MASKED
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
