package conflicts

import (
	"strings"
	"testing"
)

// TestReportsAreKnown: IsReport recognizes a report, and no other file.
func TestReportsAreKnown(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, header: true, header + "A\tC\tG\tred\tbroad\tgroup\tRed\tbroad\n": true,
		header + "x\n": false, "x\n" + header: false, "ads.csv\t45\tKeyword\t11 words\n": false, "\n": false,
		"SQLite format 3\x00\n": false, strings.Repeat("x", 1<<20): false,
	} {
		if got := IsReport(strings.NewReader(text)); got != want {
			t.Errorf("%.40q: %v", text, got)
		}
	}
}
