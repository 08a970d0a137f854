"""Asks a running cluster through the client that openapi-python-client has generated from openapi.yaml.

Usage: client.py QUERY-ADDRESS ADMIN-ADDRESS TOKEN, with the generated package on PYTHONPATH.
"""

import sys

from adshard_client import AuthenticatedClient, Client
from adshard_client.api.data import change_keyword, create_keyword, get_campaign, list_keywords, remove_keyword
from adshard_client.api.public import explain, search, search_post
from adshard_client.models import ErrorAnswer, KeywordPatch, KeywordPatchStatus, MatchType, NewKeyword, SearchRequest, Verdict

query, admin, token = sys.argv[1:]
public = Client(base_url=query)
operator = AuthenticatedClient(base_url=admin, token=token)

found = search.sync(client=public, q="usb cable", slots=2)
assert found.coverage.complete and found.ads[0].keyword == "usb cable" and found.ads[0].price_micros > 0, found
posted = search_post.sync(client=public, body=SearchRequest(q="usb cable", slots=2))
assert [ad.ad_id for ad in posted.ads] == [ad.ad_id for ad in found.ads], posted
why = explain.sync(client=public, q="usb cable", limit=10)
assert {k.verdict for k in why.matches} >= {Verdict.WON, Verdict.KEYWORD_PAUSED}, why
refused = search.sync(client=public, q="usb", slots=99)
assert isinstance(refused, ErrorAnswer) and refused.error.field == "slots", refused

campaign = get_campaign.sync(client=operator, id=1)
assert campaign.item.name == "Cables" and campaign.item.daily_budget_micros == 50_000_000, campaign
new = create_keyword.sync(client=operator, body=NewKeyword(group_id=1, text="hdmi cable", match_type=MatchType.EXACT), idempotency_key="one")
made = new.changes[0].item
assert made.text == "hdmi cable", new
seen = search.sync(client=public, q="hdmi cable", min_clock=new.min_clock, timeout_ms=5000)
assert seen.ads[0].keyword_id == made.id, seen
paused = change_keyword.sync(client=operator, id=made.id, group=1, if_match=made.etag, body=KeywordPatch(status=KeywordPatchStatus.PAUSED))
assert paused.changes[0].item.status == "paused", paused
stale = remove_keyword.sync_detailed(client=operator, id=made.id, group=1, if_match=made.etag)
assert stale.status_code == 412, stale
remove_keyword.sync(client=operator, id=made.id, group=1)
assert made.id not in [k.id for k in list_keywords.sync(client=operator, group=1).items]
