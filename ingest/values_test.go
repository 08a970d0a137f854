package ingest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"adshard/search"
)

func TestMoney(t *testing.T) {
	for in, want := range map[string]uint64{
		"0": 0, "1": 1_000_000, "0.5": 500_000, "0.000001": 1, "007.10": 7_100_000, "10000": maxBidMicros,
		"9223372036854.775807": maxMicros,
	} {
		if got, err := parseMoney(in); got != want || err != nil {
			t.Errorf("%s: %d, %v", in, got, err)
		}
	}
	for in, want := range map[string]error{
		"": errNotMoney, "-1": errNotMoney, "+1": errNotMoney, "1,50": errNotMoney, ".5": errNotMoney, "1.": errNotMoney,
		"1e3": errNotMoney, "one": errNotMoney, "1 000": errNotMoney, "$1": errNotMoney, "١": errNotMoney, "1.2.3": errNotMoney,
		"0.1234567": errDecimals, "9223372036854.775808": errTooLarge, "99999999999999999999999": errTooLarge,
	} {
		if _, err := parseMoney(in); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", in, err, want)
		}
	}
	for in, want := range map[string]error{
		"10000": nil, "10000.000001": errBidTooHigh, "10001": errBidTooHigh, "99999999999999999999999": errBidTooHigh, "x": errNotMoney,
	} {
		if _, err := parseBid(in); !errors.Is(err, want) {
			t.Errorf("bid %s: %v, want %v", in, err, want)
		}
	}
}

func TestPercent(t *testing.T) {
	for in, want := range map[string]uint16{
		"0": 1000, "-0": 1000, "+0.0": 1000, "20": 1200, "+20": 1200, "-33.3": 667, "-20%": 800, "-20.00": 800, "+15 %": 1150, "7.50 %": 1075, "-100": 0, "-100.0": 0, "900": 10000, "0.1": 1001,
	} {
		if got, err := parsePercent(in); got != want || err != nil {
			t.Errorf("%s: %d, %v", in, got, err)
		}
	}
	for in, want := range map[string]error{
		"": errPercent, "%": errPercent, "20%%": errPercent, "20 % off": errPercent, "12.34": errPercent, "12.340": errPercent, "12,5": errPercent, "1.": errPercent, ".5": errPercent, "--1": errPercent, "- 1": errPercent,
		"900.1": errModifier, "-100.1": errModifier, "1000": errModifier, "99999999999999999999": errModifier,
	} {
		if _, err := parsePercent(in); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", in, err, want)
		}
	}
}

func TestQuality(t *testing.T) {
	for in, want := range map[string]uint8{"1": 1, "10": 10, "05": 5} {
		if got, err := parseQuality(in); got != want || err != nil {
			t.Errorf("%s: %d, %v", in, got, err)
		}
	}
	for _, in := range []string{"0", "11", "", "5.0", "-1", "--", "300"} {
		if _, err := parseQuality(in); err == nil {
			t.Errorf("%s was taken", in)
		}
	}
}

// TestRotation: by the names that files have, short and long.
func TestRotation(t *testing.T) {
	for in, want := range map[string]bool{
		"Optimize": false, "OPTIMIZE_FOR_CLICKS": false, "Optimize: prefer best performing ads": false,
		"Optimize for conversions: Show ads expected to provide more conversions": false,
		"Rotate": true, "even": true, "Rotate ads indefinitely": true, "Do not optimize: rotate ads indefinitely": true,
		"Rotate evenly: Show ads more evenly for at least 90 days, then optimize": true, "ROTATE_INDEFINITELY": true,
	} {
		if even, err := parseRotation(in); even != want || err != nil {
			t.Errorf("%s: %v, %v", in, even, err)
		}
	}
	for _, in := range []string{"", ":", "never", "Do not"} {
		if _, err := parseRotation(in); err == nil {
			t.Errorf("%s was taken", in)
		}
	}
}

func TestTypes(t *testing.T) {
	for in, want := range map[string]string{
		"Broad": "0 broad", "PHRASE": "0 phrase", "exact": "0 exact", "Negative Broad": "1 broad", "negative exact": "1 exact",
		"Campaign Negative Phrase": "2 phrase", "campaign negative BROAD": "2 broad",
		"Negative": "1 exact", "CAMPAIGN negative": "2 exact", // as the text says
		"Fuzzy": "", "Negative ": "", "Negativebroad": "", "Campaign Broad": "", "Broad match": "", "Negative Negative Broad": "",
	} {
		of, matchType, err := parseType(in, search.Exact)
		got := fmt.Sprintf("%d %v", of, matchType)
		if err != nil {
			got = ""
		}
		if got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

func TestUnwrap(t *testing.T) {
	for in, want := range map[string]struct {
		text string
		t    search.MatchType
	}{
		`"a b"`: {"a b", search.Phrase}, `[a]`: {"a", search.Exact}, `a`: {"a", search.Broad}, `" a "`: {"a", search.Phrase},
		`"half`: {`"half`, search.Broad}, `half]`: {`half]`, search.Broad}, `"[a]"`: {"[a]", search.Phrase}, `"`: {`"`, search.Broad},
		`""`: {"", search.Phrase}, `["a"]`: {`"a"`, search.Exact}, `"a]`: {`"a]`, search.Broad}, "[\u2003a\u00a0]": {"a", search.Exact},
	} {
		if text, mt := unwrap(in); text != want.text || mt != want.t {
			t.Errorf("%s: %q %v", in, text, mt)
		}
	}
}

func TestLanguages(t *testing.T) {
	for in, want := range map[string]string{
		"en": "en", "Czech, ENGLISH": "cs en", "en;cs;en": "cs en", "en;;": "en", " de ": "de",
	} {
		if got, err := parseLanguages(in); string(got) != want || err != nil {
			t.Errorf("%s: %v, %v", in, got, err)
		}
	}
	for _, in := range []string{";", "Klingon", "en;xx"} {
		if _, err := parseLanguages(in); err == nil {
			t.Errorf("%s was taken", in)
		}
	}
}

func TestHeader(t *testing.T) {
	read := func(header string, needAccount bool) (string, error) {
		r := newRecordReader(strings.NewReader(header))
		l, err := r.readHeader(needAccount)
		var found []string
		for c, at := range l.cell {
			if at >= 0 {
				found = append(found, fmt.Sprintf("%s=%d", column(c), at))
			}
		}
		return strings.Join(found, " "), err
	}
	for header, want := range map[string]string{
		"Account,Campaign\n":                                          "Account=0 Campaign=1",
		"Campaign\tACCOUNT name\tx,y\n":                               "Account=1 Campaign=0",
		"campaign_name,\"Account\",Daily Budget,status":               "Account=1 Campaign=0 Campaign Daily Budget=2 Status=3",
		"Account,Campaign,Keyword text,Keyword type,Default max CPC":  "Account=0 Campaign=1 Keyword=2 Criterion Type=3 Max CPC=4",
		"Account,Campaign,MatchType,max_cpc_bid,Headline15":           "Account=0 Campaign=1 Criterion Type=2 Max CPC=3 Headline 15=4",
		"Account,Campaign,Description 4,Path2,FinalURL,Foo,Foo,,":     "Account=0 Campaign=1 Description 4=2 Path 2=3 Final URL=4",
		"Account;Campaign;Max. CPC;Ad-group":                          "Account=0 Campaign=1 Ad Group=3 Max CPC=2",
		"Account,Campaign,Budget,Campaign Daily Budget\n":             "Account=0 Campaign=1 Campaign Daily Budget=3",
		"Account,Campaign,Campaign Daily Budget,Budget,Budget\n":      "Account=0 Campaign=1 Campaign Daily Budget=2",
		"Account,Campaign,Campaign state,Ad group_state,State":        "Account=0 Campaign=1 Campaign Status=2 Ad Group Status=3 Status=4",
		"Account,Campaign,Campaign state,Campaign Status":             "Account=0 Campaign=1 Campaign Status=3",
		"Account,Campaign,Language targeting,Campaign budget":         "Account=0 Campaign=1 Campaign Daily Budget=3 Languages=2",
		"Account name,Account,Campaign,Type,Match type":               "Account=1 Campaign=2 Criterion Type=4 Account name=0",
		"Account\tcampaign_NAME\tCampaign":                            "Account=0 Campaign=2",
		"Account name,Campaign,Type":                                  "Account=0 Campaign=1 Type=2",
		"Account,Campaign,Headline,Description Line 2":                "Account=0 Campaign=1 Headline 1=2 Description 2=3",
		"\n,,,\n \t\n\"\",\nAccount,Campaign\n":                       "Account=0 Campaign=1",
		"sep=;\nAccount;Campaign;a,Keyword,Status\n":                  "Account=0 Campaign=1",
		"\nSEP=\t\r\n\r\nAccount\tCampaign\n":                         "Account=0 Campaign=1",
		"\"sep=,\"\nAccount,Campaign\n":                               "Account=0 Campaign=1",
		"Account,Campaign,Headline 16,Description 5,Path 3,Ad Groups": "Account=0 Campaign=1",
	} {
		if got, err := read(header, true); got != want || err != nil {
			t.Errorf("%q: %s, %v; want %s", header, got, err, want)
		}
	}
	if got, err := read("Campaign,x", false); got != "Campaign=0" || err != nil {
		t.Errorf("without an account: %s, %v", got, err)
	}
	for header, want := range map[string]string{
		"":                                       "is empty",
		"a,b,c\n":                                "no column of a Google Ads Editor file",
		"\n":                                     "is empty",
		"Account|Campaign\n":                     "no column of a Google Ads Editor file",
		"Konto,Kampagne\n":                       `the language "English"`,
		"Kampagne;Status\n":                      `the language "English"`,
		"sep=|\nAccount|Campaign\n":              "only tabs, commas and semicolons",
		"sep=;\nAccount,Campaign\n":              "no column of a Google Ads Editor file",
		"Account,Ad Group\n":                     "no column Campaign",
		"Campaign,Ad Group\n":                    "no column Account",
		"Account,Campaign,Budget,Daily Budget\n": "two columns for Campaign Daily Budget, the 3rd and the 4th",
		"Account,Campaign,Budget,Budget\n":       "two columns for Campaign Daily Budget, the 3rd and the 4th",
		"Account,Campaign,Max CPC,Max. CPC\n":    "two columns for Max CPC, the 3rd and the 4th",
		"Account,Campaign\rA,B\r":                "single carriage return",
		"A\x00c\x00,\x00":                        "byte order mark",
		"Account,\"Campaign\n":                   "never closed",
		"Account,Cam\"paign\n":                   "a quote inside a cell",
		strings.Repeat("x", maxHeader+1) + "\n":  "longer than",
		strings.Repeat("x", maxRecord+9) + "\n":  "longer than",
	} {
		_, err := read(header, true)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", header, err, want)
		}
	}
}

// TestTexts: a text is bounded by its bytes; one that is empty is no value in a line.
func TestTexts(t *testing.T) {
	for in, allowed := range map[string]bool{"ab": true, "žž": true, "žžx": false} {
		if got, err := atMost(4)(in); (err == nil) != allowed || allowed && got != in {
			t.Errorf("%s: %q, %v", in, got, err)
		}
		var l fieldList
		if l.orNull(fieldText, ""); l[0].Value != "null" {
			t.Errorf("none: %v", l)
		}
		if l.orNull(fieldText, in); l[1].Value != `"`+in+`"` {
			t.Errorf("%s: %v", in, l)
		}
	}
}

// TestURLs: a URL of its own that something has is that of a web page, or none.
func TestURLs(t *testing.T) {
	for url, allowed := range map[string]bool{"": true, "https://a.example/?q=a b": true, "ftp://a.example/": false, "https:///path": false,
		"https://a.example/" + strings.Repeat("x", 2040): false} {
		if got, err := parseURL(url); got != url || (err == nil) != allowed {
			t.Errorf("%s: %q, %v", url, got, err)
		}
	}
}
