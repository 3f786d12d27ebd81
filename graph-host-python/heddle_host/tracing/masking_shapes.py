"""Shapes of personal data and secrets: generated from host-kit/src/masking/detectors.ts, which describes them.

`npm run host-frames` writes this file.
"""

# ruff: noqa: E501
# fmt: off
from __future__ import annotations

import re

# a pattern, of which a first group stands before and stays, and the name of a check
Shape = tuple[re.Pattern[str], str | None]

# in the order in which they are applied
SHAPES: dict[str, list[Shape]] = {
    "secret": [
        (re.compile(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----)){0,20000}(?:-----END [A-Z0-9 ]{0,30}-----)?", re.ASCII), None),
        (re.compile(r"(?<![\w-])eyJ[\w-]{8,4000}\.(?:eyJ[\w-]{8,8000}\.[\w-]{0,2000}|[\w-]{0,2000}\.[\w-]{8,200}\.[\w-]{8,8000}\.[\w-]{8,200})", re.ASCII), None),
        (re.compile(r"(?<!\w)(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?!\w)", re.ASCII), None),
        (re.compile(r"(?<!\w)(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{40,255}|npm_[A-Za-z0-9]{36})", re.ASCII), None),
        (re.compile(r"(?<!\w)gl(?:pat|ptt|dt|rt|cbt|soat|agent|ft|imt|oas|ffct)-[\w.-]{20,300}", re.ASCII), None),
        (re.compile(r"(?<!\w)(?:(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,255}|whsec_[A-Za-z0-9+/=]{20,255})", re.ASCII), None),
        (re.compile(r"(?<![\w-])(?:sk|pk)-(?:[a-z]{2,10}\d{0,2}-)?[A-Za-z0-9][\w-]{18,255}", re.ASCII), "has_digit"),
        (re.compile(r"(?<!\w)(?:xox[abeoprs]-[\w-]{10,255}|xapp-[\w-]{10,255})", re.ASCII), None),
        (re.compile(r"(hooks\.slack\.com\/(?:services|workflows|triggers)\/)[\w/-]{16,200}", re.ASCII), None),
        (re.compile(r"(discord(?:app)?\.com\/api\/webhooks\/\d{16,20}\/)[\w-]{40,100}", re.ASCII), None),
        (re.compile(r"(?<![\w:/.-])\d{8,10}:AA[\w-]{33}(?![\w-])", re.ASCII), None),
        (re.compile(r"(?<!\w)(?:AIza[\w-]{35}|ya29\.[\w-]{20,500}|GOCSPX-[\w-]{20,40}|1\/\/0[\w-]{40,200})", re.ASCII), None),
        (re.compile(r"(?<!\w)(?:hf_[A-Za-z]{30,64}|r8_[A-Za-z0-9]{30,64}|gsk_[A-Za-z0-9]{40,64}|lsv2_(?:pt|sk)_\w{20,100})", re.ASCII), None),
        (re.compile(r"(?<!\w)(?:xai|pplx|tvly|pcsk|jina)[-_](?=[\w-]{0,40}\d)[A-Za-z0-9][\w-]{30,255}", re.ASCII), None),
        (re.compile(r"(?<!\w)(?:SG\.[\w-]{16,64}\.[\w-]{16,64}|SK[0-9a-f]{32}|key-[0-9a-f]{32}|[0-9a-f]{32}-us\d{1,2})(?!\w)", re.ASCII), None),
        (re.compile(r"(?<!\w)(?:do[opr]_v1_[0-9a-f]{64}|dapi[0-9a-f]{32}(?:-\d)?|shp(?:at|ss|ca|pa)_[0-9a-fA-F]{32})(?!\w)", re.ASCII), None),
        (re.compile(r"(?<!\w)(?:pypi-[\w-]{50,500}|dckr_(?:pat|oat)_[\w-]{20,64}|hv[sbr]\.[\w-]{20,300}|pul-[0-9a-f]{40})", re.ASCII), None),
        (re.compile(r"(?<!\w)(?:gl(?:c|sa)_[A-Za-z0-9+/_=]{30,300}|sntry[su]_[\w+/=-]{40,400}|NRAK-[A-Z0-9]{27})", re.ASCII), None),
        (re.compile(r"(?<!\w)(?:lin_api_[A-Za-z0-9]{32,64}|ntn_[A-Za-z0-9]{40,64}|figd_[\w-]{30,64}|PMAK-[0-9a-f]{24}-[0-9a-f]{34})", re.ASCII), None),
        (re.compile(r"(?<!\w)(?:pat[A-Za-z0-9]{14}\.[0-9a-f]{64}|sbp_[0-9a-f]{40}|nfp_[A-Za-z0-9]{36}|pscale_(?:tkn|pw|oauth)_[\w.-]{32,64})", re.ASCII), None),
        (re.compile(r"(?<!\w)AGE-SECRET-KEY-1[A-Z0-9]{58}(?!\w)", re.ASCII), None),
        (re.compile(r"(\b(?:Account|SharedAccess)Key=)[A-Za-z0-9+/]{40,100}={0,2}", re.ASCII), None),
        (re.compile(r"([?&](?:token|key|sig|signature|X-Amz-Signature|X-Amz-Security-Token|X-Goog-Signature)=)[^ \t\r\n&#\"'<>\\]{16,4000}", re.ASCII | re.IGNORECASE), None),
        (re.compile(r"(:\/\/[^ \t\r\n:/@]{0,64}:)[^ \t\r\n:/@]{3,128}(?=@)", re.ASCII), None),
        (re.compile(r"(\bbearer )[\w.~+/-]{16,2000}=*", re.ASCII | re.IGNORECASE), None),
        (re.compile(r"(\bbasic )[A-Za-z0-9+/]{6,1000}={0,2}", re.ASCII | re.IGNORECASE), "basic_auth"),
        (re.compile(r"((?:password|passwd|pwd|passphrase|secret|api[_-]?key|access[_-]?key|client[_-]?secret|(?:access|auth|refresh|api)[_-]?token)[\"']?[ \t\r\n]{0,3}[=:][ \t\r\n]{0,3}[\"']?)[^ \t\r\n\"',;&[]{6,256}", re.ASCII | re.IGNORECASE), None),
    ],
    "email": [
        (re.compile(r"(?<![\w.%+\u00c0-\u1fff-])[\w.%+\u00c0-\u1fff-][\w.%+'\u00c0-\u1fff-]{0,63}@(?:[A-Za-z0-9\u00c0-\u1fff\u3040-\ud7ff\uf900-\ufaff](?:[A-Za-z0-9\u00c0-\u1fff\u3040-\ud7ff\uf900-\ufaff-]{0,61}[A-Za-z0-9\u00c0-\u1fff\u3040-\ud7ff\uf900-\ufaff])?\.){1,6}(?:[xX][nN]--[A-Za-z0-9-]{2,59}|[A-Za-z\u00c0-\u1fff]{2,24}|[\u3040-\ud7ff\uf900-\ufaff]{2,8})(?![\w\u00c0-\u1fff-])", re.ASCII), None),
        (re.compile(r"(?<![\w.\u3040-\ud7ff\uf900-\ufaff-])[\w.\u3040-\ud7ff\uf900-\ufaff-]{1,64}@(?:[A-Za-z0-9\u00c0-\u1fff\u3040-\ud7ff\uf900-\ufaff](?:[A-Za-z0-9\u00c0-\u1fff\u3040-\ud7ff\uf900-\ufaff-]{0,61}[A-Za-z0-9\u00c0-\u1fff\u3040-\ud7ff\uf900-\ufaff])?\.){1,6}(?:[xX][nN]--[A-Za-z0-9-]{2,59}|[A-Za-z\u00c0-\u1fff]{2,24}|[\u3040-\ud7ff\uf900-\ufaff]{2,8})(?![\w\u00c0-\u1fff-])", re.ASCII), None),
    ],
    "iban": [
        (re.compile(r"(?<![A-Za-z0-9_])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,3})?(?![A-Za-z0-9_])", re.ASCII | re.IGNORECASE), "iban"),
    ],
    "card": [
        (re.compile(r"(?<![\w.+-])[2-6]\d{3}(?:[ \u00a0-]?\d){8,14}\d(?![\w]|[.-]\d)", re.ASCII), "card"),
        (re.compile(r"(?<![\w.+-])[2-6]\d{3}(?:\.\d{4}){3}(?![\w]|[.-]\d)", re.ASCII), "card"),
    ],
    "us_ssn": [
        (re.compile(r"(?<![\w-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])", re.ASCII), None),
    ],
    "phone": [
        (re.compile(r"(?<![\w+.,-])\+\d(?:[ ().\u00a0\u2011-]{0,2}\d){6,14}(?![\w-]|[.,]\d)", re.ASCII), None),
        (re.compile(r"((?:(?<![\w\u00c0-\u1fff\u3040-\ud7ff\uf900-\ufaff])|(?=[\u3040-\ud7ff\uf900-\ufaff]))(?:(?:[tT][eE][lL][eE]|[cC][eE][lL][lL] ?|[mM][oO][bB][iI][lL][eE] ?)?[pP][hH][oO][nN][eE]|[tT][eE][lL]|[mM][oO][bB][iI][lL][eE]|[cC][eE][lL][lL]|[fF][aA][xX]|[wW][hH][aA][tT][sS][aA][pP][pP]|[tT][eE][lL][eE][fF][oO][nN]|[mM][oO][bB][iI][lL]|[hH][aA][nN][dD][yY]|[tT](?:[eE]|[\u00e9\u00c9])[lL](?:[eE]|[\u00e9\u00c9])[pP][hH][oO][nN][eE]|[tT](?:[eE]|[\u00e9\u00c9])[lL](?:[eE]|[\u00e9\u00c9])[fF][oO][nN][oO]|[mM](?:[oO]|[\u00f3\u00d3])[vV][iI][lL]|[cC][eE][lL][uU][lL][aA][rR]|\u7535\u8bdd|\u624b\u673a)(?: (?:[nN][uU][mM][bB][eE][rR]|[nN][oO]|[nN][rR]))?[.:#\uff1a]{0,2} {0,3})\(?\d(?:[ ()./\u00a0-]{0,2}\d){6,14}(?![\w-]|[.,]\d)", re.ASCII), None),
        (re.compile(r"(?<![\w+.,:/-])(?<!\d )\(?0\d{1,4}\)?(?:[ /-]{1,3}(?:\d{2,7}|(?!(?:19|20)\d{6})\d{8})){1,5}(?![\w-]|[.,]\d)", re.ASCII), "local_phone"),
        (re.compile(r"(?<![\w+.,:/-])0\d(?:\.\d\d){4}(?![\w-]|[.,]\d)", re.ASCII), None),
        (re.compile(r"(?<![\w+.,:/-])(?:1[ .-])?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[ .-])[2-9]\d{2}[ .-]\d{4}(?![\w-]|[.,]\d)", re.ASCII), None),
    ],
    "ip": [
        (re.compile(r"(?<![\w.])(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?![\w]|\.\d)", re.ASCII), None),
        (re.compile(r"(?<![\w:.])(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}(?![\w:])", re.ASCII | re.IGNORECASE), None),
        (re.compile(r"(?<![\w:.])(?:[0-9a-f]{1,4}:){1,6}(?::[0-9a-f]{1,4}){1,6}(?![\w:])", re.ASCII | re.IGNORECASE), "has_digit"),
    ],
}
SECRET_NAME = re.compile(r"^(?:[^\n]{0,40}[_-])?(?:password|passwd|pwd|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key|client[_-]?secret|authorization|cookie|credentials?|(?:access|auth|refresh|id|session|bearer|api)[_-]?token)\Z", re.ASCII | re.IGNORECASE)
PHONE_NAME = re.compile(r"^(?:[^\n]{0,40}[_-])?(?:phone|telephone|tel|mobile|cell|fax|msisdn)(?:[_-]?(?:number|no|nr))?\Z", re.ASCII | re.IGNORECASE)
BARE_PHONE = re.compile(r"^[ ()+./-]{0,3}\d(?:[ ()./-]{0,2}\d){6,14}\Z", re.ASCII)
CARD = re.compile(r"^(?:4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:2[2-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11,16}|35\d{14,17}|(?:50|5[6-8]|6\d)\d{11,17})\Z", re.ASCII)
NO_PHONE = re.compile(r"^(?:\(?000|\d{1,2}[ /-]\d{1,2}[ /-](?:19|20)\d{2}(?!\d)|\d{3}-\d{2}-\d{4}\Z)", re.ASCII)
TEXT = re.compile(r"^text\/|[/+](?:json|xml|yaml|x-yaml|csv|javascript|x-ndjson|jsonl)\b", re.ASCII | re.IGNORECASE)
IBAN_LENGTHS = r"AD24AE23AL28AT20AZ28BA20BE16BG22BH22BI27BR29BY28CH21CR22CY28CZ24DE22DJ27DK18DO28EE20EG29ES24FI18FK18FO18FR27GB22GE22GI23GL18GR27GT28HN28HR21HU28IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32LI21LT20LU20LV21LY25MC27MD24ME22MK19MN20MR27MT31MU30NI28NL18NO15OM23PK24PL28PS29PT25QA29RO24RS22RU33SA24SC31SD18SE24SI19SK24SM27SO23ST25SV28TL23TN24TR26UA29VA22VG24XK20YE30"
