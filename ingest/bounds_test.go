package ingest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"adshard/fault"
	"adshard/ingest"
)

// urls maps final URLs to a part of the reason why each is rejected, or to "" if it is accepted.
var urls = map[string]string{
	"": "", "http://a": "", "HTTPS://a.example:8443/p?q=%zz&k={keyword}#f": "", "https://a/" + strings.Repeat("x", 2038): "",
	"https://a/" + strings.Repeat("x", 2039): "more than 2,048 bytes", "javascript:alert(1)": "not a URL", "ftp://a/": "not a URL",
	"data:text/html,x": "not a URL", "a.example": "not a URL", "//a/": "not a URL", "https://": "not a URL", "https:///p": "not a URL",
	"https://?q": "not a URL", "https:a": "not a URL", "https://a b/": "", "https://a/\u0085b": "not a URL", "https://a/\x01": "not a URL",
}

// TestURLsOfAds: a final URL may be empty, or http or https of at most 2 kB, in both formats. A URL accepted by an
// older program can still be removed.
func TestURLsOfAds(t *testing.T) {
	for url, want := range urls {
		value, err := json.Marshal(url)
		if err != nil {
			t.Fatal(err)
		}
		line := `{"type":"ad","advertiser":"A","campaign":"C","group":"G","headlines":["H"],"final_url":` + string(value)
		for _, c := range []struct{ file, removal, column string }{
			{allColumns + in("Ad Group=G", "Headline 1=H", "Final URL="+url), allColumns + in("Ad Group=G", "Headline 1=H", "Final URL="+url, "Status=Removed"), "2 Final URL "},
			{line + "}\n", line + `,"status":"removed"}` + "\n", "1 final_url "},
		} {
			dump, rejects := importText(t, ingest.Options{}, c.file)
			if want == "" && (rejects != "" || !strings.Contains(dump, fmt.Sprintf("%q", url))) {
				t.Errorf("%.60q is not taken: %s%s", url, dump, rejects)
			}
			if want != "" && (dump != "" || !strings.HasPrefix(rejects, c.column) || !strings.Contains(rejects, want)) {
				t.Errorf("%.60q: %q%q, want %s", url, dump, rejects, want)
			}
			if _, rejects := importText(t, ingest.Options{}, c.removal); rejects != "" {
				t.Errorf("%.60q cannot be removed: %s", url, rejects)
			}
		}
	}
}

// TestNamesAreBounded: names of advertisers, campaigns and groups have at most 1,024 bytes.
func TestNamesAreBounded(t *testing.T) {
	fits, long := strings.Repeat("é", 512), strings.Repeat("é", 512)+"x"
	for _, c := range []struct{ format, column string }{
		{allColumns + row("Account=%s", "Campaign=C"), "2 Account "},
		{allColumns + row("Account=A", "Campaign=%s"), "2 Campaign "},
		{allColumns + in("Ad Group=%s"), "2 Ad Group "},
		{allColumns + in("Ad Group=%s", "Keyword=k"), "2 Ad Group "},
		{`{"type":"advertiser","name":"%s"}` + "\n", "1 name "},
		{`{"type":"campaign","advertiser":"%s","name":"C"}` + "\n", "1 advertiser "},
		{`{"type":"campaign","advertiser":"A","name":"%s"}` + "\n", "1 name "},
		{`{"type":"group","advertiser":"A","campaign":"%s","name":"G"}` + "\n", "1 campaign "},
		{`{"type":"negative","advertiser":"A","campaign":"C","group":"%s","text":"k","match_type":"broad"}` + "\n", "1 group "},
	} {
		if dump, rejects := importText(t, ingest.Options{}, fmt.Sprintf(c.format, fits)); rejects != "" || !strings.Contains(dump, fits) {
			t.Errorf("%s: 1,024 bytes are not taken: %s", c.column, rejects)
		}
		dump, rejects := importText(t, ingest.Options{}, fmt.Sprintf(c.format, long))
		if dump != "" || !strings.HasPrefix(rejects, c.column) || !strings.Contains(rejects, "more than 1,024 bytes") || len(rejects) > 400 {
			t.Errorf("%s: %q%q", c.column, dump, rejects)
		}
	}
	_, err := ingest.Run(context.Background(), newFakeStore(), []string{"-"}, ingest.Options{Advertiser: long})
	if !fault.Is(err, fault.Invalid) {
		t.Errorf("--advertiser: %v", err)
	}
}

// TestRejectsQuoteTheValue: a reason quotes the value, shortened and with all unprintable characters escaped, so that
// a report can be read and shown.
func TestRejectsQuoteTheValue(t *testing.T) {
	long := strings.Repeat("é", 5000)
	for file, want := range map[string]string{
		allColumns + in("Ad Group=G", "Keyword=k", "Max CPC=10001"):                           `(found "10001")`,
		allColumns + in("Ad Group=G", "Keyword=k", "Status=\x1b[2J\tof\nf"):                   `(found "\x1b[2J\tof\nf")`,
		allColumns + in("Status=a\xffb"):                                                      `(found "a\xffb")`,
		allColumns + in("Status=a\u202eb"):                                                    `(found "a\u202eb")`,
		allColumns + in("Status="+long):                                                       `(found "` + long[:2*60] + `…")`,
		allColumns + in("Languages=en;Klingon"):                                               `(found "en;Klingon")`,
		allColumns + in("Ad Group=G", "Keyword=a b c d e f g h i j k"):                        `(found "a b c d e f g h i j k")`,
		allColumns + "A,C" + strings.Repeat(",", 25) + "x\n":                                  `(found "x")`,
		allColumns + "A,C,G,ke":                                                               `(found "ke")`,
		`{"type":"advertiser","name":"A","status":"of"}` + "\n":                               `(found "of")`,
		`{"type":"advertiser","name":"A","status":true}` + "\n":                               `(found "true")`,
		`{"type":"campaign","advertiser":"A","name":"C","daily_budget_micros":1.5}` + "\n":    `(found "1.5")`,
		`{"type":"campaign","advertiser":"A","name":"C","languages":["en","Klingon"]}` + "\n": `(found "en; Klingon")`,
		`{"type":"advertiser",` + "\n":                                                        `(found "{\"type\":\"advertiser\",")`,
	} {
		_, rejects := importText(t, ingest.Options{}, file)
		if !strings.HasSuffix(rejects, want+"\n") || strings.Count(rejects, "\n") != 1 {
			t.Errorf("%q, want %s", rejects, want)
		}
	}
	if _, rejects := importText(t, ingest.Options{}, allColumns+row("Campaign=C")); strings.Contains(rejects, "found") {
		t.Errorf("an empty cell is quoted: %s", rejects)
	}
}

// TestZeroBytes: text with a NUL, which PostgreSQL cannot store, is rejected at its column, whichever database is
// used.
func TestZeroBytes(t *testing.T) {
	for file, column := range map[string]string{
		allColumns + row("Account=a\x00b", "Campaign=C"):                                                                                   "Account",
		allColumns + in("Ad Group=G\x00"):                                                                                                  "Ad Group",
		allColumns + in("Ad Group=G", "Keyword=a\x00b"):                                                                                    "Keyword",
		allColumns + in("Ad Group=G", "Headline 1=h", "Path 1=a\x00b"):                                                                     "Path 1",
		`{"type":"keyword","advertiser":"A","campaign":"C","group":"G","text":"a\u0000b","match_type":"broad"}` + "\n":                     "text",
		`{"type":"ad","advertiser":"A","campaign":"C","group":"G","headlines":["h","a\u0000b"],"final_url":"https://example.com/"}` + "\n": "headlines",
	} {
		dump, rejects := importText(t, ingest.Options{}, file)
		if dump != "" || !strings.Contains(rejects, column) || !strings.Contains(rejects, "zero byte") {
			t.Errorf("%q: %q%q", column, dump, rejects)
		}
	}
	if _, err := ingest.Run(t.Context(), newFakeStore(), []string{"-"}, ingest.Options{Advertiser: "a\x00"}); !fault.Is(err, fault.Invalid) {
		t.Errorf("--advertiser: %v", err)
	}
}
