package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"adshard/search/words"
)

// scripts are keywords as people type and paste them, each of a separate advertiser.
var scripts = []struct{ text, kind string }{
	{"バス", "Exact"}, {"パス", "Exact"}, {"ハス", "Exact"}, {"ม้า", "Exact"}, {"มา", "Exact"}, {"café", "Exact"},
	{"head\u00adphones", "Broad"}, {"men's shoes", "Broad"}, {"zero\u200bwidth", "Broad"}, {"watches", "Broad"},
	{"手机", "Broad"}, {"手机 套", "Phrase"}, {"iPhone15手机壳", "Exact"}, {"めん", "Broad"}, {"スマホ", "Broad"}, {"ตลาด", "Broad"}, {"មាស", "Broad"}, {"မြန်", "Broad"},
}

// TestWordsAsPeopleWriteThem: marks that make another letter are not accents, invisible characters do not split
// words, and a possessive is one word. This holds for keywords, negatives and queries, in any placement.
func TestWordsAsPeopleWriteThem(t *testing.T) {
	var file strings.Builder
	file.WriteString("Account,Campaign,Ad Group,Keyword,Criterion Type,Max CPC,Languages,Headline 1,Final URL\n")
	for i, s := range scripts {
		fmt.Fprintf(&file, "A%d,C,G,%s,%s,1.00,en,,\nA%d,C,G,,,,,H,https://a.example/\n", i, s.text, s.kind, i)
		if s.text == "手机" {
			fmt.Fprintf(&file, "A%d,C,G,防水,Negative Broad,,,,\n", i)
		}
		if s.text == "watches" {
			fmt.Fprintf(&file, "A%d,C,G,men\u2019s,Negative Broad,,,,\n", i)
		}
	}
	c := startCluster(t, importEditor(t, []byte(file.String()), uint64(len(scripts))), 3, false, "default")
	for query, want := range map[string][]string{
		"バス": {"バス"}, "ﾊﾞｽ": {"バス"}, "パス": {"パス"}, "ハス": {"ハス"}, "ม้า": {"ม้า"}, "มา": {"มา"},
		"cafe": {"café"}, "cafe\u0301": {"café"},
		"headphones cheap": {"head\u00adphones"}, "head\u200dphones": {"head\u00adphones"}, "head phones": nil,
		"zero width": {"zero\u200bwidth"}, "zerowidth": nil,
		"shoes for men": {"men's shoes"}, "men\u2019s shoes": {"men's shoes"}, "mens shoes": {"men's shoes"}, "s shoes": nil,
		"红色手机袋": {"手机"}, "机手": nil, "手x机": nil, "手 机": {"手机"}, "手机套子": {"手机", "手机 套"}, "套手机": {"手机"},
		"iphone15 手机壳": {"iPhone15手机壳", "手机"}, "手机壳 iphone15": {"手机"},
		"らーめん屋": {"めん"}, "んめ": nil, "ｽﾏﾎ ケース": {"スマホ"}, "スマホケース": nil,
		"ไปตลาดนัด": {"ตลาด"}, "ตล่าด": nil, "ហាងមាសខ្មែរ": {"មាស"}, "မြန်မာ": {"မြန်"}, "မန်": nil,
		"手机防水":                    nil, // a negative of the only advertiser that matches
		"women's watches for men": {"watches"}, "men\u02bcs watches": nil, "men s watches": {"watches"},
	} {
		a := c.search(t, url.Values{"q": {query}, "slots": {"20"}})
		var got []string
		for _, ad := range a.Ads {
			got = append(got, ad.Keyword)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) || !a.Coverage.Complete {
			t.Errorf("%+q: %+q, want %+q; %+v", query, got, want, a.Coverage)
		}
	}
	resp, err := c.client.Get(c.http + "/v1/explain?q=x")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var explained struct {
		Version string `json:"words_version"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&explained); err != nil || explained.Version != words.Version() {
		t.Errorf("an explanation is of words %q, %v", explained.Version, err)
	}
}
