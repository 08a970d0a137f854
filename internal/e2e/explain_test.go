package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"adshard/internal/cli"
)

// fates is an Editor file with an account for each fate that a keyword can have. All keywords have the same quality,
// so on a desktop the order is that of the bids First, Second, Third: with two places Third is left out.
const fates = `Account,Campaign,Ad Group,Keyword,Criterion Type,Max CPC,Quality score,Desktop Bid Modifier,Ad Group Status,Headline 1,Final URL
First,C,G,red lamp,Exact,2.00,10,,,,
First,C,G,,,,,,,Lamps,https://first.example/
Second,C,G,red lamp,Exact,1.50,10,,,,
Second,C,G,,,,,,,Lamps,https://second.example/
Third,C,G,red lamp,Exact,1.00,10,,,,
Third,C,G,,,,,,,Lamps,https://third.example/
Blocked,C,G,red lamp,Exact,9.00,10,,,,
Blocked,C,G,lamp,Campaign Negative Broad,,,,,,
Blocked,C,G,,,,,,,Lamps,https://blocked.example/
Paused,C,G,red lamp,Exact,8.00,10,,Paused,,
Paused,C,G,,,,,,,Lamps,https://paused.example/
Cheap,C,G,red lamp,Exact,0.009,10,,,,
Cheap,C,G,,,,,,,Lamps,https://cheap.example/
Elsewhere,C,G,,,,,-100,,,
Elsewhere,C,G,red lamp,Exact,7.00,10,,,,
Elsewhere,C,G,,,,,,,Lamps,https://elsewhere.example/
Refused,C,,,,,,much,,,
Refused,C,G,red lamp,Exact,6.00,10,,,,
Refused,C,G,,,,,,,Lamps,https://refused.example/
`

// banned adds an account with a negative of its own.
const banned = `Banned,C,G,red lamp,Exact,9.00,10,,,,
Banned,C,G,,,,,,,Lamps,https://banned.example/
Banned,<Account-level>,,red lamp,Negative Exact,,,,,,
`

// fate is the information of /v1/explain on a keyword.
type fate struct {
	KeywordID   uint64   `json:"keyword_id"`
	Advertiser  string   `json:"advertiser"`
	Verdict     string   `json:"verdict"`
	Reason      string   `json:"reason"`
	Position    int      `json:"position"`
	PriceMicros uint64   `json:"price_micros"`
	PriceSetBy  uint64   `json:"price_set_by"`
	LostTo      uint64   `json:"lost_to"`
	Shard       string   `json:"shard"`
	PausedBy    []string `json:"paused_by"`
	Negative    *struct {
		Text, Owner string
		MatchType   string `json:"match_type"`
	} `json:"negative"`
}

// TestExplain checks the fate of each keyword, over HTTP and with the command.
func TestExplain(t *testing.T) {
	c := startCluster(t, importEditor(t, []byte(fates+banned), 0), 3, false, "default")
	desktop := c.explain(t, "desktop")
	first, second := desktop["First"].KeywordID, desktop["Second"].KeywordID
	third := desktop["Third"].KeywordID
	for _, want := range []struct {
		advertiser, verdict, reason string
	}{
		{"First", "won", fmt.Sprintf("won place 1 at 1.50, set by keyword %d", second)},
		{"Second", "won", fmt.Sprintf("won place 2 at 1.00, set by keyword %d", third)},
		{"Third", "lost", fmt.Sprintf("took part, but all 2 places went to better ones; keyword %d has the last; a bid of 1.500001 would have a place", second)},
		{"Blocked", "blocked_by_negative", `blocked by the campaign's negative broad keyword "lamp"`},
		{"Banned", "blocked_by_negative", `blocked by the advertiser's negative exact keyword "red lamp"`},
		{"Paused", "group_paused", "its ad group is paused"},
		{"Cheap", "below_reserve", "its bid of 0.009 (0.009 × 1000 ‰) is below the reserve of 0.01"},
		{"Elsewhere", "device_off", "not shown on desktop: the bid modifier there is −100 %"},
		{"Refused", "campaign_paused", "its campaign is paused; it is held, since its own row was rejected in the file that made it: correct the row and import it"},
	} {
		if got := desktop[want.advertiser]; got.Verdict != want.verdict || got.Reason != want.reason || got.Shard == "" {
			t.Errorf("%s: %s, %q on %q; want %s, %q", want.advertiser, got.Verdict, got.Reason, got.Shard, want.verdict, want.reason)
		}
		c.told(t, want.advertiser, want.reason)
	}
	c.toldWhyNot(t, fmt.Sprint(third), "red lamp", "keyword "+fmt.Sprint(second)+" has the last; a bid of 1.500001 would have a place")
	c.toldWhyNot(t, "Third", "red floor lamp", `it does not match: the query also has "floor", and exact keywords take no other words`)
	c.toldWhyNot(t, "Blocked", "red", `it does not match: no word of the query agrees with "lamp"`)
	c.toldWhyNot(t, "Paused", "lamp red", "its ad group is paused; and it does not match: all its words are in the query, but not in the order")
	c.toldWhyNot(t, "Nobody", "red lamp", "There is no such keyword")
	if f := desktop["First"]; f.Position != 1 || f.PriceMicros != 1_500_000 || f.PriceSetBy != second {
		t.Errorf("First: %+v", f)
	}
	if by := desktop["Refused"].PausedBy; len(by) != 1 || by[0] != "refused_row" {
		t.Errorf("Refused is paused by %q", by)
	}
	if f := desktop["Third"]; f.LostTo != second {
		t.Errorf("Third lost to %d, want %d", f.LostTo, second)
	}
	if n := desktop["Blocked"].Negative; n == nil || n.Text != "lamp" || n.Owner != "campaign" || n.MatchType != "broad" {
		t.Errorf("Blocked: %+v", n)
	}
	if n := desktop["Banned"].Negative; n == nil || n.Text != "red lamp" || n.Owner != "advertiser" || n.MatchType != "exact" {
		t.Errorf("Banned: %+v", n)
	}
	if f := c.explain(t, "mobile")["Elsewhere"]; f.Verdict != "won" || f.Position != 1 || f.PriceSetBy != first {
		t.Errorf("Elsewhere on mobile: %+v", f)
	}
}

// explain asks over HTTP and returns the fates by advertiser.
func (c *cluster) explain(t *testing.T, device string) map[string]fate {
	t.Helper()
	v := url.Values{"q": {"red lamp"}, "slots": {"2"}, "device": {device}, "timeout_ms": {"5000"}}
	resp, err := c.client.Get(c.http + "/v1/explain?" + v.Encode())
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s, %v: %s", resp.Status, err, body)
	}
	var a struct {
		Total    uint64
		Matches  []fate
		Coverage struct{ Complete bool }
	}
	if err := json.Unmarshal(body, &a); err != nil || !a.Coverage.Complete || a.Total != 9 || len(a.Matches) != 9 {
		t.Fatalf("%v in %s", err, body)
	}
	by := map[string]fate{}
	for _, f := range a.Matches {
		by[f.Advertiser] = f
	}
	return by
}

// TestOneAddress: a query command needs only the address of the admin port.
func TestOneAddress(t *testing.T) {
	c := startCluster(t, importEditor(t, []byte(fates), 0), 1, false, "default")
	var out, bad bytes.Buffer
	status := cli.Main(t.Context(), "adshard", []string{"query", "--addr", c.admin, "red", "lamp"},
		cli.Streams{In: strings.NewReader(""), Out: &out, Err: &bad})
	if status != 0 || !strings.Contains(out.String(), "First") || !strings.Contains(out.String(), "1 of 1 shards") {
		t.Errorf("status %d: %s\n%s", status, out.String(), bad.String())
	}
}

// toldWhyNot checks the reason that `adshard query --why-not` prints.
func (c *cluster) toldWhyNot(t *testing.T, named, query, reason string) {
	t.Helper()
	var out, bad bytes.Buffer
	status := cli.Main(t.Context(), "adshard", []string{"query", "--addr", c.http, "--slots", "2", "--why-not", named, query},
		cli.Streams{In: strings.NewReader(""), Out: &out, Err: &bad})
	if status != 0 || !strings.Contains(out.String(), reason) {
		t.Errorf("status %d: %s%q of %s is not in\n%s", status, bad.String(), reason, named, out.String())
	}
}

// told checks the reason that `adshard query --explain` prints.
func (c *cluster) told(t *testing.T, advertiser, reason string) {
	t.Helper()
	var out, bad bytes.Buffer
	status := cli.Main(t.Context(), "adshard",
		[]string{"query", "--addr", c.http, "--explain", "--slots", "2", "--timeout-ms", "5000", "red", "lamp"},
		cli.Streams{In: strings.NewReader(""), Out: &out, Err: &bad})
	if status != 0 {
		t.Fatalf("status %d: %s", status, bad.String())
	}
	for line := range strings.Lines(out.String()) {
		if strings.Contains(line, " "+advertiser+" ") && strings.HasSuffix(strings.TrimSpace(line), reason) {
			return
		}
	}
	t.Errorf("%q of %s is not in\n%s", reason, advertiser, out.String())
}
