"""What the document says and JSON Schema cannot: without it Schemathesis takes values for good ones that are not.

Only requests that are to be good are touched, but for how long a stream waits, and none is taken out of the checks.
"""

import re

import schemathesis
from hypothesis import strategies as st

# The formats of the document: their values are on lists that it does not repeat.
schemathesis.openapi.format("language", st.sampled_from(["en", "cs", "Czech", "german", "pt-BR"]))
schemathesis.openapi.format("time-zone", st.sampled_from(["UTC", "Europe/Prague", "America/New_York"]))
schemathesis.openapi.format(
    "keyword",
    st.sampled_from(["usb cable", "wireless keyboard", "laptop 2gb", "myš", "a", "10 m cable", "désk & co"])
    | st.integers(min_value=0).map(lambda n: f"cable {n}"),
)
# Where nobody listens: other names would be looked up.
schemathesis.openapi.format("host-port", st.sampled_from(["127.0.0.1:9", "[::1]:9", "localhost:9"]))

MAX_BYTES = {"q": 1024, "name": 1024, "final_url": 2048, "why_not": 1040, "advertiser_name": 1024, "file": 255}
OWNERS = ("advertiser", "campaign", "group", "advertiser_id", "campaign_id", "group_id")
ETAG = re.compile(r'\*|"[\x21\x23-\x7e]{0,62}"')
LONGEST = 50  # ms that a stream waits: it may be 30 s, and the run is to end
IMPORTED = 2  # advertisers, campaigns and groups of ads.jsonl, with the ids from 1


def digits(value):
    """Integers are written as digits (info.description); to JSON Schema 15.0 is an integer, too."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [digits(v) for v in value]
    if isinstance(value, dict):
        return {k: digits(v) for k, v in value.items()}
    return value


def shorten(values):
    """Bounds of bytes (x-max-bytes): maxLength counts characters."""
    for name, most in MAX_BYTES.items():
        while isinstance(values.get(name), str) and len(values[name].encode()) > most:
            values[name] = values[name][: len(values[name]) // 2]


def known(number):
    return 1 + number % IMPORTED


def meet(case, query, body):
    """Names what is there, so that more is tried than how a 404 looks."""
    for values in (query, body):
        for name in OWNERS:
            if isinstance(values.get(name), int):
                values[name] = known(values[name])
    path = case.path_parameters or {}
    if isinstance(path.get("id"), int):
        path["id"] = 1 + path["id"] % 5
    if isinstance(path.get("slice"), int):
        path["slice"] = 1 + path["slice"] % 20
    if "name" in path:
        path["name"] = "slave-2"
    if case.operation.path == "/v1/balance/move":
        body["slave"], body["slice"] = f"slave-{body['slice'] % 3}", 1 + body["slice"] % 20


@schemathesis.hook
def before_call(context, case, kwargs):
    case.query = query = dict(case.query or {})
    operation, path = case.operation.definition.raw.get("operationId"), case.path_parameters or {}
    if operation == "listChanges" and str(query.get("wait_ms", "")).isdigit():
        query["wait_ms"] = min(int(query["wait_ms"]), LONGEST)
    meta = case.meta
    if meta is None or not meta.generation.mode.is_positive:
        return
    # The covering phase takes If-Match from its bad values in requests that it calls good; the fuzzing phase, which
    # draws it by the document's pattern, does not.
    if case.headers and not ETAG.fullmatch(case.headers.get("If-Match", "*")):
        del case.headers["If-Match"]
    case.body = digits(case.body)
    body = case.body if isinstance(case.body, dict) else {}
    shorten(query)
    shorten(body)
    if meta.phase.name.value != "stateful":
        meet(case, query, body)
    # A cursor is `next` of a page: what others look like does not matter.
    query.pop("cursor", None)
    # The group, the campaign or the advertiser, as the parameters say.
    if case.operation.path.startswith("/v1/negatives") and operation != "createNegative":
        if sum(owner in query for owner in ("group", "campaign", "advertiser")) != 1:
            query.pop("campaign", None)
            query.pop("advertiser", None)
            query.setdefault("group", 1)
    # Each strategy has its own options, which /v1/balance/strategies lists.
    if operation == "balanceStrategy":
        body.pop("options", None)
        body["name"] = {0: "weighted-move", 1: "random"}.get(len(body["name"]) % 3, body["name"])
    # What was imported stays for the other calls; what the run has created is removed.
    if operation in ("removeAdvertiser", "removeCampaign", "removeGroup") and isinstance(path.get("id"), int) and path["id"] <= IMPORTED:
        path["id"] += 1000
