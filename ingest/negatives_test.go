package ingest_test

import (
	"strings"
	"testing"

	"adshard/ingest"
)

// TestNegativesStayNegatives: a keyword that any column calls a negative never becomes a keyword to bid on.
func TestNegativesStayNegatives(t *testing.T) {
	const owners = "A = status=enabled\nA / C = status=enabled\n"
	const group = owners + "A / C / G = status=enabled\n"
	const positive = group + "A / C / G / broad free = status=enabled text=free\n"
	for _, c := range []struct{ name, head, row, want, rejects string }{
		{"Type", "Type", "Negative", group + "A / C / G / -broad free = status=enabled\n", ""},
		{"Type with a match type", "Type", "negative Exact", group + "A / C / G / -exact free = status=enabled\n", ""},
		{"Type of the campaign", "Type", "Campaign negative", owners + "A / C / -broad free = status=enabled\n", ""},
		{"Type of a positive", "Type", "Exact", group + "A / C / G / exact free = status=enabled text=free\n", ""},
		{"Criterion Type alone", "Criterion Type", "Negative", group + "A / C / G / -broad free = status=enabled\n", ""},
		{"Type of a row", "Type", "Keyword", positive, ""},
		{"Type of a row that is a negative", "Type", "Negative keyword", "", "2 Type"},
		{"Type beside a criterion type", "Match type,Type", "Exact,Campaign Negative Keyword", "", "2 Type"},
		{"any column", "Comment", " NEGATIVE (was asked for) ", "", "2 Comment"},
		{"a column without a name", "", "negative", "", "2 cell 5"},
		{"another owner's", "Level", "Ad group negative", "", "2 Level"},
		{"an alias that is not used", "Criterion Type,Match type", "Broad,Negative broad", "", "2 Match type"},
		{"a column of ads", "Headline 1", "Negative", "", "2 Headline 1"},
		{"brackets", "Kind", "[negative]", "", "2 Kind"},
		{"a heading", "Is negative", "TRUE", "", "2 Is negative"},
		{"a heading that says no", "Negative", "FALSE", positive, ""},
		{"a heading of nothing", "Negative keyword", "", positive, ""},
		{"no negative", "Labels", "non-negative; Neg", positive, ""},
	} {
		dump, rejects := importText(t, ingest.Options{}, "Account,Campaign,Ad Group,Keyword,"+c.head+"\nA,C,G,free,"+c.row+"\n")
		if dump != c.want || !strings.HasPrefix(rejects, c.rejects) || (rejects == "") != (c.rejects == "") {
			t.Errorf("%s:\n%s%s", c.name, dump, rejects)
		}
	}
}

// TestNamesThatBeginWithNegative: a keyword's text and its owners' names may begin with "negative" without making it
// one.
func TestNamesThatBeginWithNegative(t *testing.T) {
	dump, rejects := importText(t, ingest.Options{}, "Account name,Account,Campaign,Ad Group,Keyword\n"+
		"Negative Ltd,1,Negative space,Campaign negatives,negative ion lamp\n")
	if rejects != "" || !strings.Contains(dump, "broad negative ion lamp = status=enabled") {
		t.Errorf("%s%s", dump, rejects)
	}
}

// TestTypeIsDecidedOnce: the first keyword with a Type decides what the column means; a row with another meaning is
// rejected, whichever comes first.
func TestTypeIsDecidedOnce(t *testing.T) {
	const head = "Account,Campaign,Ad Group,Keyword,Type\n"
	for rows, want := range map[string]string{
		"A,C,G,k,Exact\nA,C,G,l,Keyword\nA,C,G,m,\n":        "3 Type",
		"A,C,G,k,Keyword\nA,C,G,l,Exact\nA,C,G,m,Text ad\n": "3 Type",
		"A,C,G,,Campaign\nA,C,G,k,Broad\nA,C,G,,Ad group\n": "",
	} {
		_, rejects := importText(t, ingest.Options{}, head+rows)
		if !strings.HasPrefix(rejects, want) || strings.Count(rejects, "\n") != len(want)/6 {
			t.Errorf("%s%s", rows, rejects)
		}
	}
}
