package values

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
		if got, err := ParseMoney(in); got != want || err != nil {
			t.Errorf("%s: %d, %v", in, got, err)
		}
	}
	for in, want := range map[string]error{
		"": errNotMoney, "-1": errNotMoney, "+1": errNotMoney, "1,50": errNotMoney, ".5": errNotMoney, "1.": errNotMoney,
		"1e3": errNotMoney, "one": errNotMoney, "1 000": errNotMoney, "$1": errNotMoney, "١": errNotMoney, "1.2.3": errNotMoney,
		"0.1234567": errDecimals, "9223372036854.775808": errTooLarge, "99999999999999999999999": errTooLarge,
	} {
		if _, err := ParseMoney(in); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", in, err, want)
		}
	}
	for in, want := range map[string]error{
		"10000": nil, "10000.000001": errBidTooHigh, "10001": errBidTooHigh, "99999999999999999999999": errBidTooHigh, "x": errNotMoney,
	} {
		if _, err := ParseBid(in); !errors.Is(err, want) {
			t.Errorf("bid %s: %v, want %v", in, err, want)
		}
	}
}

func TestPercent(t *testing.T) {
	for in, want := range map[string]uint16{
		"0": 1000, "-0": 1000, "+0.0": 1000, "20": 1200, "+20": 1200, "-33.3": 667, "-20%": 800, "-20.00": 800, "+15 %": 1150, "7.50 %": 1075, "-100": 0, "-100.0": 0, "900": 10000, "0.1": 1001,
	} {
		if got, err := ParsePercent(in); got != want || err != nil {
			t.Errorf("%s: %d, %v", in, got, err)
		}
	}
	for in, want := range map[string]error{
		"": ErrPercent, "%": ErrPercent, "20%%": ErrPercent, "20 % off": ErrPercent, "12.34": ErrPercent, "12.340": ErrPercent, "12,5": ErrPercent, "1.": ErrPercent, ".5": ErrPercent, "--1": ErrPercent, "- 1": ErrPercent,
		"900.1": errModifier, "-100.1": errModifier, "1000": errModifier, "99999999999999999999": errModifier,
	} {
		if _, err := ParsePercent(in); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", in, err, want)
		}
	}
}

func TestQuality(t *testing.T) {
	for in, want := range map[string]uint8{"1": 1, "10": 10, "05": 5} {
		if got, err := ParseQuality(in); got != want || err != nil {
			t.Errorf("%s: %d, %v", in, got, err)
		}
	}
	for _, in := range []string{"0", "11", "", "5.0", "-1", "--", "300"} {
		if _, err := ParseQuality(in); err == nil {
			t.Errorf("%s was taken", in)
		}
	}
}

// TestRotation: rotation is read from the short and long names that files have.
func TestRotation(t *testing.T) {
	for in, want := range map[string]bool{
		"Optimize": false, "OPTIMIZE_FOR_CLICKS": false, "Optimize: prefer best performing ads": false,
		"Optimize for conversions: Show ads expected to provide more conversions": false,
		"Rotate": true, "even": true, "Rotate ads indefinitely": true, "Do not optimize: rotate ads indefinitely": true,
		"Rotate evenly: Show ads more evenly for at least 90 days, then optimize": true, "ROTATE_INDEFINITELY": true,
	} {
		if even, err := ParseRotation(in); even != want || err != nil {
			t.Errorf("%s: %v, %v", in, even, err)
		}
	}
	for _, in := range []string{"", ":", "never", "Do not"} {
		if _, err := ParseRotation(in); err == nil {
			t.Errorf("%s was taken", in)
		}
	}
}

func TestTypes(t *testing.T) {
	for in, want := range map[string]string{
		"Broad": "0 broad", "PHRASE": "0 phrase", "exact": "0 exact", "Negative Broad": "1 broad", "negative exact": "1 exact",
		"Campaign Negative Phrase": "2 phrase", "campaign negative BROAD": "2 broad",
		"Negative": "1 exact", "CAMPAIGN negative": "2 exact", // the match type of the text
		"Fuzzy": "", "Negative ": "", "Negativebroad": "", "Campaign Broad": "", "Broad match": "", "Negative Negative Broad": "",
	} {
		of, matchType, err := ParseType(in, search.Exact)
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
		if text, mt := Unwrap(in); text != want.text || mt != want.t {
			t.Errorf("%s: %q %v", in, text, mt)
		}
	}
}

func TestLanguages(t *testing.T) {
	for in, want := range map[string]string{
		"en": "en", "Czech, ENGLISH": "cs en", "en;cs;en": "cs en", "en;;": "en", " de ": "de",
	} {
		if got, err := ParseLanguages(in); string(got) != want || err != nil {
			t.Errorf("%s: %v, %v", in, got, err)
		}
	}
	for _, in := range []string{";", "Klingon", "en;xx"} {
		if _, err := ParseLanguages(in); err == nil {
			t.Errorf("%s was taken", in)
		}
	}
}

// TestTexts: AtMost limits the bytes of a text.
func TestTexts(t *testing.T) {
	for in, allowed := range map[string]bool{"ab": true, "žž": true, "žžx": false} {
		if got, err := AtMost(4)(in); (err == nil) != allowed || allowed && got != in {
			t.Errorf("%s: %q, %v", in, got, err)
		}
	}
}

// TestURLs: a URL must be that of a web page, or empty.
func TestURLs(t *testing.T) {
	for url, allowed := range map[string]bool{"": true, "https://a.example/?q=a b": true, "ftp://a.example/": false, "https:///path": false,
		"https://a.example/" + strings.Repeat("x", 2040): false} {
		if got, err := ParseURL(url); got != url || (err == nil) != allowed {
			t.Errorf("%s: %q, %v", url, got, err)
		}
	}
}
