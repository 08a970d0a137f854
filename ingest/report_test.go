package ingest

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"adshard/ingest/rejected"
)

// TestReportsHoldNoFormulas: both reports quote what advertisers wrote, but no cell can act as a formula.
func TestReportsHoldNoFormulas(t *testing.T) {
	var rejects bytes.Buffer
	w := rejected.NewWriter(&rejects)
	if err := w.Write(&rejected.Row{File: "=x.csv", Record: 3, Column: "@SUM(1)", Reason: errUnknownField.Error()}); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if got := rejects.String(); got != "'=x.csv\t3\t'@SUM(1)\tunknown field\n" {
		t.Errorf("%q", got)
	}
	if !IsRejects(&rejects) {
		t.Error("the report is not known")
	}
	_, err := Run(context.Background(), fatalStore{t: t}, []string{"-"}, Options{Rejects: &rejects,
		Stdin: strings.NewReader("Account,Campaign,Status\nA,=C,\"=cmd|'/c calc'!A0\"\n")})
	if want := "-\t2\tStatus\tunknown status: Enabled, Paused or Removed (found \"=cmd|'/c calc'!A0\")\n"; err != nil || rejects.String() != want {
		t.Errorf("%q, %v", rejects.String(), err)
	}
}

// TestReportOfAHiddenNegative: a report is still recognized as one if it has a reject at an unknown column, whose
// heading can do no harm there.
func TestReportOfAHiddenNegative(t *testing.T) {
	var rejects bytes.Buffer
	heading := "\"=x\x1b[2J\n" + strings.Repeat("é", 100) + "\""
	sum, err := Run(context.Background(), fatalStore{t: t}, []string{"-"}, Options{Rejects: &rejects,
		Stdin: strings.NewReader("Account,Campaign,Ad Group,Keyword," + heading + "\nA,C,G,k,negative\n")})
	want := "=x [2J " + strings.Repeat("é", rejected.QuotedRunes-7) + "…"
	if err != nil || sum.Rejected != 1 || sum.First[0].Column != want || !IsRejects(bytes.NewReader(rejects.Bytes())) {
		t.Errorf("%+v, %v: %s", sum.First, err, rejects.String())
	}
}

// TestReportsAreKnown: IsRejects recognizes reports of rejects, and no other files.
func TestReportsAreKnown(t *testing.T) {
	const reject = "ads.csv\t45\tKeyword\t11 words\n"
	for text, want := range map[string]bool{
		"": true, reject: true, reject + "'-x\t2\tcell 27\twhy\n-\t3\t\twhy\n-\t3\tfinal_url\twhy\n": true,
		"advertiser\tcampaign\tgroup\tnegative\tnegative_type\tnegative_of\tkeyword\tkeyword_type\n": false,
		"Account,Campaign\nA,C\n": false, "Account\tCampaign\tAd Group\tKeyword\nA\tC\tG\tk\n": false,
		`{"type":"advertiser","name":"A"}` + "\n": false, reject + "x\n": false, reject + "ads.csv\t46\tKey": false, "\n": false,
		"name\t12\tsome column\tvalue\n": false, "a\tx\tKeyword\tb\n": false, "a\t1\tKeyword\t\n": false,
		"SQLite format 3\x00\n": false, strings.Repeat("x", 1<<20): false, "\xff\xfeA\x00\n\x00": false,
	} {
		if got := IsRejects(strings.NewReader(text)); got != want {
			t.Errorf("%.40q: rejects %v", text, got)
		}
	}
}
