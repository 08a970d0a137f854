package words

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"
	"unicode"
	"unicode/utf8"
)

// TestCasefoldTable pins all foldings. The hash is that of the table which Python 3.11's
// str.casefold gives (Unicode 14; 15 added no foldings).
func TestCasefoldTable(t *testing.T) {
	h := sha256.New()
	n := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		if f := casefold(string(r)); f != string(r) {
			n++
			fmt.Fprintf(h, "%X:%s\n", r, f)
		}
	}
	const want = "bc162f954e59756b100147ed19966c20b57ee99fbbb236f441a359814046a3b9"
	if got := hex.EncodeToString(h.Sum(nil)); n != 1530 || got != want {
		t.Errorf("%d foldings with hash %s, want 1530 with %s", n, got, want)
	}
}

func TestCasefoldCherokee(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"\u13a0\u13f5", "\u13a0\u13f5"},
		{"\u13f8\u13fd", "\u13f0\u13f5"},
		{"\uab70\uabbf", "\u13a0\u13ef"},
		{"Aꮳß\uab70Z", "aᏣss\u13a0z"},
		{"ꮳ", "Ꮳ"},
	} {
		if got := casefold(tt.in); got != tt.want {
			t.Errorf("casefold(%+q) = %+q, want %+q", tt.in, got, tt.want)
		}
	}
}
