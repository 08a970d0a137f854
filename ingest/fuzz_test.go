package ingest

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// drain reads all rows of a source and checks each.
func drain(t *testing.T, src source) {
	var e entry
	last := int64(0)
	for {
		err := src.next(&e)
		if err != nil {
			return
		}
		switch {
		case e.record <= last:
			t.Fatalf("row %d after %d", e.record, last)
		case e.reject != nil && (e.reject.Record != e.record || e.reject.Reason == ""):
			t.Fatalf("reject %+v of row %d", e.reject, e.record)
		case e.reject == nil && e.skipped == "":
			checkEntry(t, &e)
			checkNegatives(t, src, &e)
		}
		last = e.record
	}
}

// checkEntry checks that an accepted row names its owners and has only valid text.
func checkEntry(t *testing.T, e *entry) {
	inGroup := e.kind == kindGroup || e.kind == kindKeyword || e.kind == kindGroupNegative || e.kind == kindAd
	if e.advertiser == "" || e.kind != kindAdvertiser && e.campaign == "" || inGroup != (e.group != "") {
		t.Fatalf("owners of %+v", e)
	}
	if e.kind == kindKeyword && (e.keyword.Words == "" || e.keyword.Bid.Value > 10_000_000_000 || e.keyword.Quality.Value > 10) {
		t.Fatalf("keyword %+v", e.keyword)
	}
	if max(len(e.advertiser), len(e.campaign), len(e.group)) > 1<<10 {
		t.Fatalf("a name of %d bytes", max(len(e.advertiser), len(e.campaign), len(e.group)))
	}
	texts := append([]string{e.advertiser, e.campaign, e.group, e.keyword.Text, e.negative.Text, e.ad.Path1, e.ad.Path2, e.ad.FinalURL}, e.ad.Headlines...)
	for _, text := range append(texts, e.ad.Descriptions...) {
		if !utf8.ValidString(text) || strings.TrimSpace(text) != text {
			t.Fatalf("text %q", text)
		}
	}
	for _, m := range e.groupPatch.Modifiers {
		if m.Value > 10_000 {
			t.Fatalf("modifier %d", m.Value)
		}
	}
}

// checkNegatives checks that no row with a cell that begins with the word negative is a keyword to bid on. The
// keyword's text and the names of its owners may begin so.
func checkNegatives(t *testing.T, src source, e *entry) {
	s, editor := src.(*editorSource)
	if !editor || e.kind != kindKeyword {
		return
	}
	texts := []int{s.row.layout.cell[colAccount], s.row.layout.cell[colAccountName], s.row.layout.cell[colCampaign], s.row.layout.cell[colAdGroup], s.row.layout.cell[colKeyword]}
	for i, cell := range s.row.cells {
		text := strings.ToLower(strings.TrimSpace(string(cell)))
		if !slices.Contains(texts, i) && (strings.HasPrefix(text, "negative") || strings.HasPrefix(text, "campaign negative")) {
			t.Fatalf("cell %d of %q", i+1, s.row.cells)
		}
	}
}

// FuzzNegatives: a row with a cell that begins with "negative" or "campaign negative" never becomes a keyword to bid
// on, whatever the heading of that cell.
func FuzzNegatives(f *testing.F) {
	for _, heading := range []string{"Type", "Criterion Type", "Match type", "Comment", "", "Ad type", "Status", "Keyword Status", "Max. CPC", "Quality score", "Labels"} {
		for _, cell := range []string{"Negative", "negative broad", "Campaign Negative Exact", "Keyword", "Exact", " NEGATIVE\t"} {
			f.Add(heading, cell, "Keyword", byte(0))
		}
	}
	f.Fuzz(func(t *testing.T, heading, cell, before string, sep byte) {
		quote := func(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
		by := string(separators[int(sep)%len(separators)])
		file := strings.Join([]string{"Account", "Campaign", "Ad Group", "Keyword", quote(heading)}, by) + "\n"
		for _, last := range []string{before, cell, before} {
			file += strings.Join([]string{"A", "C", "G", "free", quote(last)}, by) + "\n"
		}
		src, err := newEditorSource(strings.NewReader(file), "f", "")
		if err != nil {
			return
		}
		drain(t, src)
	})
}

func FuzzEditor(f *testing.F) {
	const head = "Account,Campaign,Ad Group,Keyword,Criterion Type,Max CPC,Mobile Bid Modifier,Headline 1,Status,Languages\n"
	for _, seed := range []string{
		head + "A,C,G,k,Exact,1.5,,,Paused,en\n", head + "A,C,G,\"a \"\"b\"\"\nc\",,,,,,\n", head + "A,C,G,,,-1,900.1,h,[],\n",
		strings.ReplaceAll(head, ",", "\t") + "A\tC\tG\t[x]\n", "\ufeff" + head, "\xff\xfeA\x00c\x00", head + "A,C,\"x\"y\n", head + ",,,,,,,,,,,x\n",
		head[:len(head)-1] + ",Location,Ad Schedule,Foo\nA,C,,,,,,,Removed,,Czechia,,\nA,C,,,,,,,Paused,,,[],x\n",
		"sep=;\n\nAccount name;Account;Campaign;Ad group;Keyword;Type;Keyword state\nA;1;C;G;k;Negative;paused\nA;2;C;G;k;Exact;\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		src, err := newEditorSource(strings.NewReader(string(file)), "f", "")
		if err != nil {
			return
		}
		drain(t, src)
	})
}

func FuzzJSONLines(f *testing.F) {
	for _, seed := range []string{
		`{"type":"keyword","advertiser":"A","campaign":"C","group":"G","text":"k","match_type":"broad","max_cpc_micros":1,"quality_score":null}`,
		`{"type":"campaign","advertiser":"A","name":"\ud83d\ude00","languages":["en"],"mobile_bid_modifier":-1.5}`,
		`{"type":"ad","advertiser":"A","campaign":"C","group":"G","headlines":["h"]}` + "\n\n{", `{"type":"advertiser","name":"\ud800\\u"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		src, err := newJSONSource(strings.NewReader(string(file)), "f", "")
		if err != nil {
			return
		}
		drain(t, src)
	})
}
