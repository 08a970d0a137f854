package ingest

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// TestNoFormulas: no cell of a report begins like a formula, whatever names,
// texts and values say, and one apostrophe taken off gives the text back.
func TestNoFormulas(t *testing.T) {
	for _, s := range []string{"", "-", "a", "a=b", "12", "=1", "+1", "-1", "@a", "\t=1", "\r", "\tx", "\nx", " =1", "\u00a0=1", "＝1", "＠a", "'a", "''", `"=1"`, `"x`, "-x.csv"} {
		cell := SafeCell(s)
		if strings.ContainsAny(cell, "\t\r\n") {
			t.Errorf("%q: %q leaves its cell", s, cell)
		}
		first := strings.TrimSpace(cell)
		if cell != "-" && first != "" && startsFormula([]rune(first)[0]) && cell[0] != '\'' {
			t.Errorf("%q: %q begins like a formula", s, cell)
		}
		if s != "" && strings.ContainsAny(s[:1], "\t\r\n") && cell[0] != '\'' {
			t.Errorf("%q: %q", s, cell)
		}
		if back := strings.TrimPrefix(cell, "'"); back != plainCell(s) {
			t.Errorf("%q: %q gives back %q", s, cell, back)
		}
	}
}

// TestReportsHoldNoFormulas: what advertisers wrote goes into both reports.
func TestReportsHoldNoFormulas(t *testing.T) {
	var rejects bytes.Buffer
	w := newRejectWriter(&rejects)
	if err := w.write(&Reject{File: "=x.csv", Record: 3, Column: "@SUM(1)", Reason: errUnknownField.Error()}); err != nil {
		t.Fatal(err)
	}
	if err := w.flush(); err != nil {
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

// TestReportOfAHiddenNegative: a reject at a column that is not known is in a report that is known again; a heading
// can do no harm there.
func TestReportOfAHiddenNegative(t *testing.T) {
	var rejects bytes.Buffer
	heading := "\"=x\x1b[2J\n" + strings.Repeat("é", 100) + "\""
	sum, err := Run(context.Background(), fatalStore{t: t}, []string{"-"}, Options{Rejects: &rejects,
		Stdin: strings.NewReader("Account,Campaign,Ad Group,Keyword," + heading + "\nA,C,G,k,negative\n")})
	want := "=x [2J " + strings.Repeat("é", quotedRunes-7) + "…"
	if err != nil || sum.Rejected != 1 || sum.First[0].Column != want || !IsRejects(bytes.NewReader(rejects.Bytes())) {
		t.Errorf("%+v, %v: %s", sum.First, err, rejects.String())
	}
}

// TestReportsAreKnown: reports of ours are known again, each as what it is; other files are not.
func TestReportsAreKnown(t *testing.T) {
	const reject = "ads.csv\t45\tKeyword\t11 words\n"
	for text, want := range map[string]bool{
		"": true, reject: true, reject + "'-x\t2\tcell 27\twhy\n-\t3\t\twhy\n-\t3\tfinal_url\twhy\n": true, conflictsHeader: true,
		conflictsHeader + "A\tC\tG\tred\tbroad\tgroup\tRed\tbroad\n": true,
		"Account,Campaign\nA,C\n":                                    false, "Account\tCampaign\tAd Group\tKeyword\nA\tC\tG\tk\n": false,
		`{"type":"advertiser","name":"A"}` + "\n": false, reject + "x\n": false, reject + "ads.csv\t46\tKey": false, "\n": false,
		conflictsHeader + "x\n": false, "name\t12\tsome column\tvalue\n": false, "a\tx\tKeyword\tb\n": false, "a\t1\tKeyword\t\n": false,
		"SQLite format 3\x00\n": false, strings.Repeat("x", 1<<20): false, "\xff\xfeA\x00\n\x00": false,
	} {
		conflicts := text == "" || strings.HasPrefix(text, conflictsHeader)
		if got := IsRejects(strings.NewReader(text)); got != (want && (text == "" || !conflicts)) {
			t.Errorf("%.40q: rejects %v", text, got)
		}
		if got := IsConflicts(strings.NewReader(text)); got != (want && conflicts) {
			t.Errorf("%.40q: conflicts %v", text, got)
		}
	}
}
