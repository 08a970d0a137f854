package ingest_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"adshard/ingest"
)

func told(t *testing.T, file string) (unused, notes string) {
	t.Helper()
	store := openDatabase(t, filepath.Join(t.TempDir(), "ads.db"))
	defer store.Close()
	sum := runInto(t, store, file)
	for _, u := range sum.Unused {
		unused += fmt.Sprintf("%s/%s %d %s;", u.Column, u.Of, u.Rows, u.Meant)
	}
	for _, n := range sum.Notes {
		notes += fmt.Sprintf("%s %d %s;", n.Kind, n.Count, strings.Join(n.First, ","))
	}
	again := runInto(t, store, file)
	if fmt.Sprint(again.Unused, again.Notes) != fmt.Sprint(sum.Unused, sum.Notes) {
		t.Errorf("a second run tells %v %v, the first %v %v", again.Unused, again.Notes, sum.Unused, sum.Notes)
	}
	return unused, notes
}

// TestUnusedColumns: each filled column that was not used is reported with its number of rows, possible misspellings
// first. Rows that are rejected or skipped do not count.
func TestUnusedColumns(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"Account,Campaign,Budget\nA,C,5\n", ""},
		{"Account,Campaign,Labels,Campain Status,Notes\nA,C,x,Enabled,\nA,C,y,,[]\nA,C,,, -- \n", "Campain Status/ 1 Campaign Status;Labels/ 2 ;"},
		{"Account,Campaign,Labels,Budget\nA,C,x,bad\nA,<Account-level>,x,\n", ""},
		{"Account,Campaign,Ad Group,Keyword,Final URL,Tracking template,Max CPC\nA,C,G,,,,1\nA,C,G,k,https://a.example/,x,\nA,C,G,l,https://a.example/,,\n",
			"Tracking template/ 1 ;"},
		{"Account,Campaign,Ad Group,Keyword,Criterion Type,Max CPC,Match type\nA,C,G,k,Exact,1,Exact\nA,C,G,k,Negative Exact,1,\n", "Match type/ 1 ;Max CPC/negatives 1 ;"},
		{"Account,Campaign,Ad Group,Keyword,Max CPC,Type\nA,C,,,,Campaign\nA,C,G,k,1,Keyword\nA,C,G,,1,Ad group\n", "Type/ad groups 1 ;Type/campaigns 1 ;Type/keywords 1 ;"},
		{"Account,Campaign,Ad Group,Keyword,Max CPC,Type\nA,C,G,k,1,Exact\nA,C,G,,1,Broad\n", "Type/ad groups 1 ;"},
		{"Account,Campaign,Headline 16,Path 3,,Campaign ID,Ad Grup\nA,C,x,x,x,9,\nA,C,,,,9,x\n", "Ad Grup/ 1 Ad Group;Campaign ID/ 2 ;Headline 16/ 1 ;Path 3/ 1 ;cell 5/ 1 ;"},
		{"Account,Campaign,Ad Group,Keyword,Criterion Type,Campaign Status\nA,<Account-level>,G,k,Negative,Paused\nA,<Account-level>,,l,Negative,\n",
			"Ad Group/negatives 1 ;Campaign Status/negatives 1 ;"},
		{"Account,Campaign,Status,Keyword Status,Campaign Status,Campaign state\nA,C,Enabled,paused,Enabled,paused\n", "Campaign state/ 1 ;Keyword Status/ 1 ;"},
	} {
		if unused, _ := told(t, c.file); unused != c.want {
			t.Errorf("%s%s\nwant\n%s", c.file, unused, c.want)
		}
	}
}

// TestKeywordsWithoutBid: enabled keywords are reported if neither they nor their groups have a bid, whichever row
// comes first.
func TestKeywordsWithoutBid(t *testing.T) {
	const head = "Account,Campaign,Ad Group,Keyword,Max CPC,Status\n"
	for rows, want := range map[string]string{
		"A,C,G,k,1,\n":                       "",
		"A,C,G,k,,\nA,C,G,,1,\n":             "",
		"A,C,G,,1,\nA,C,G,k,,\n":             "",
		"A,C,G,k,0,\n":                       "",
		"A,C,G,k,,Paused\n":                  "",
		"A,C,G,k,,Removed\n":                 "",
		"A,C,G,k,,\nA,C,G,l,,\nA,C,H,m,1,\n": `keywords_without_bid 2 broad "k" in ad group "G",broad "l" in ad group "G";`,
		"A,C,G,,1,\nA,C,G,k,,\nA,C,G,,[],\n": `keywords_without_bid 1 broad "k" in ad group "G";contradictions 1 -: row 4, ad group "G";`,
		"A,C,G,k,1,\nA,C,G,k,[],\n":          `keywords_without_bid 1 broad "k" in ad group "G";contradictions 1 -: row 3, keyword "k";`,
	} {
		if _, notes := told(t, head+rows); notes != want {
			t.Errorf("%s%s\nwant\n%s", rows, notes, want)
		}
	}
	var many strings.Builder
	for i := range 700 {
		fmt.Fprintf(&many, "A,C,G%d,k,,\n", i)
	}
	if _, notes := told(t, head+many.String()); !strings.HasPrefix(notes, "keywords_without_bid 700 ") || strings.Count(notes, ",") != ingest.FirstNotes-1 {
		t.Errorf("%s", notes)
	}
}

// TestContradictions: rows of one file that give one entity different values are reported; rows that give the same
// values, or set other properties, are not.
func TestContradictions(t *testing.T) {
	const head = "Account,Campaign,Ad Group,Keyword,Max CPC,Budget,Languages,Campaign Status,Ad Group Status,Status\n"
	for rows, want := range map[string]string{
		"A,C,G,Red shoes,1,,,,,\nA,C,G,red shoes!,1,,,,,\n": `contradictions 1 -: row 3, keyword "red shoes!";`,
		"A,C,G,k,1,,,,,\nA,C,G,k,2,,,,,\nA,C,G,k,2,,,,,\n":  `contradictions 1 -: row 3, keyword "k";`,
		"A,C,G,k,1,,,,,\nA,C,G,k,1,,,,,Paused\n":            "",
		"A,C,,,,5,cs,Enabled,,\nA,C,,,,5,cs,Enabled,,\n":    "",
		"A,C,,,,5,,,,\nA,C,,,,,cs,,,\nA,D,,,,6,,,,\n":       "",
		"A,C,,,,5,,,,\nA,C,,,,9,,,,\n":                      `contradictions 1 -: row 3, campaign "C";`,
		"A,C,,,,,cs,,,\nA,C,,,,,en,,,\n":                    `contradictions 1 -: row 3, campaign "C";`,
		"A,C,G,k,1,,,Paused,,\nA,C,G,l,1,,,Enabled,,\n":     `contradictions 1 -: row 3, campaign "C";`,
		"A,C,G,k,1,,,,Paused,\nA,C,G,l,1,,,,Enabled,\n":     `contradictions 1 -: row 3, ad group "G";`,
	} {
		if _, notes := told(t, head+rows); notes != want {
			t.Errorf("%s%s\nwant\n%s", rows, notes, want)
		}
	}
}

// TestQualityScoresOfReports: unread quality scores are reported in one note.
func TestQualityScoresOfReports(t *testing.T) {
	_, notes := told(t, "Account,Campaign,Ad Group,Keyword,Max CPC,Quality score\nA,C,G,a,1,--\nA,C,G,b,1,7/10\nA,C,G,c,1,7\nA,C,G,d,1,\n")
	if notes != `quality_scores_unread 2 "--","7/10";` {
		t.Errorf("%s", notes)
	}
}

// TestSpreadsheetErrors: an error value that a spreadsheet wrote in place of a keyword is rejected, also as a
// negative.
func TestSpreadsheetErrors(t *testing.T) {
	const head = "Account,Campaign,Ad Group,Keyword,Criterion Type\nA,C,G,"
	for _, text := range []string{"#NAME?", "#ref!", "#N/A", "#VALUE!", "[#DIV/0!]", "########", "1.23457E+11", "\"1,23457E+11\"", "9E-05", "1e+06"} {
		for _, of := range []string{"", "Negative Exact"} {
			if dump, rejects, _ := imported(t, head+text+","+of+"\n"); dump != "" || !strings.HasPrefix(rejects, "-\t2\tKeyword\ta spreadsheet") {
				t.Errorf("%s: %s%s", text, dump, rejects)
			}
		}
	}
	for _, text := range []string{"#1 lamp", "# 1", "1e10", "e+10", "2e+", "3 e+10", "1E+10 lamp", "#name"} {
		if dump, rejects, _ := imported(t, head+text+",\n"); rejects != "" || !strings.Contains(dump, "broad") {
			t.Errorf("%s: %s%s", text, dump, rejects)
		}
	}
}

// TestPlaceholdersAreTold: notes report ads whose placeholders are filled, texts that are left out, and ads with no
// headline left, for both kinds of file. Rows that are rejected or that remove an ad do not count.
func TestPlaceholdersAreTold(t *testing.T) {
	const head = "Account,Campaign,Ad Group,Headline 1,Headline 2,Description 1,Path 1,Final URL,Ad status\n"
	for rows, want := range map[string]string{
		"A,C,G,Plain,{Sale,{50 %},{p},https://a.example/{keyword:x},\n":         "",
		"A,C,G,Buy {KeyWord:it},,,,,\nA,C,G,a,,,{keyword:p},,Paused\n":          `ads_with_keyword 2 "Buy {KeyWord:it}" in ad group "G","a" in ad group "G";`,
		"A,C,G,a,{LOCATION(City)},{=x},{IF(x):y},,\n":                           `texts_left_out 3 "{LOCATION(City)}" in ad group "G","{=x}" in ad group "G","{IF(x):y}" in ad group "G";`,
		"A,C,G,{KeyWord:a},{KeyWord},,,,\n":                                     `ads_with_keyword 1 "{KeyWord:a}" in ad group "G";texts_left_out 1 "{KeyWord}" in ad group "G";`,
		"A,C,G,{KeyWord:},,,,,\n":                                               `ads_without_headline 1 "{KeyWord:}" in ad group "G";`,
		"A,C,G,{=x},,{keyword:y},,,\n":                                          `texts_left_out 1 "{=x}" in ad group "G";ads_without_headline 1 "{=x}" in ad group "G";`,
		"A,C,G,{=x},,,,,Removed\nA,C,G,{=x},,,,no URL,\nA,C,G,{=x},,,,,often\n": "",
	} {
		if _, notes := told(t, head+rows); notes != want {
			t.Errorf("%s%s\nwant\n%s", rows, notes, want)
		}
	}
	_, notes := told(t, `{"type":"ad","advertiser":"A","campaign":"C","group":"G","headlines":["{KEYWORD:x}","{=x}"]}`+"\n")
	if want := `ads_with_keyword 1 "{KEYWORD:x}" in ad group "G";texts_left_out 1 "{=x}" in ad group "G";`; notes != want {
		t.Errorf("JSON lines: %s", notes)
	}
	var many strings.Builder
	for i := range 700 {
		fmt.Fprintf(&many, "A,C,G%d,{keyword:x},,,,,\n", i)
	}
	if _, notes := told(t, head+many.String()); !strings.HasPrefix(notes, "ads_with_keyword 700 ") || strings.Count(notes, ",") != ingest.FirstNotes-1 {
		t.Errorf("%s", notes)
	}
}
