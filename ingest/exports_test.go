package ingest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/backend"
	"adshard/ingest"
)

// imported imports a file into an empty store and returns all entities, the rejects and the kinds of skipped rows.
func imported(t *testing.T, file string) (dump, rejects, skipped string) {
	t.Helper()
	store := newFakeStore()
	var out strings.Builder
	sum, err := ingest.Run(context.Background(), store, []string{"-"}, ingest.Options{Stdin: strings.NewReader(file), Rejects: &out})
	if err != nil {
		t.Fatal(err)
	}
	return store.dump(), out.String(), fmt.Sprint(sum.Skipped)
}

// TestAdTypes: text ads of search campaigns are accepted, and all others skipped by type. No ad without a headline is
// accepted, so that no answer has one.
func TestAdTypes(t *testing.T) {
	for _, c := range []struct {
		kind, headline string
		taken          bool
		skipped        string
	}{
		{"Responsive search ad", "h", true, "[]"},
		{"RESPONSIVE_SEARCH_AD", "h", true, "[]"},
		{"Expanded text ad", "h", true, "[]"},
		{"text ad", "h", true, "[]"},
		{"", "h", true, "[]"},
		{"Responsive search ad", "", false, "[]"},
		{"Text ad", " ", false, "[]"},
		{"Image ad", "h", false, `[{ad of type "Image ad" 1}]`},
		{"Image ad", "", false, `[{ad of type "Image ad" 1}]`},
		{"Expanded dynamic search ad", "h", false, `[{ad of type "Expanded dynamic search ad" 1}]`},
		{"Call-only ad", "h", false, `[{ad of type "Call-only ad" 1}]`},
		{"Responsive display ad", "h", false, `[{ad of type "Responsive display ad" 1}]`},
		{"\x1b[2J", "h", false, `[{ad of type "\x1b[2J" 1}]`},
	} {
		dump, rejects, skipped := imported(t, "Account,Campaign,Ad Group,Ad type,Headline 1,Status\nA,C,G,"+c.kind+","+c.headline+",\n")
		if strings.Contains(dump, "ad [") != c.taken || (dump != "") != c.taken || skipped != c.skipped ||
			strings.Contains(rejects, "\tHeadline 1\t") != (!c.taken && c.skipped == "[]") {
			t.Errorf("%s, %q: %s\n%s%s", c.kind, c.headline, skipped, dump, rejects)
		}
	}
	if _, rejects, _ := imported(t, "Account,Campaign,Ad Group,Ad type,Status\nA,C,G,Text ad,Removed\n"); rejects != "" {
		t.Errorf("an ad without a headline cannot be removed: %s", rejects)
	}
	_, rejects, _ := imported(t, `{"type":"ad","advertiser":"A","campaign":"C","group":"G","headlines":[" "]}`+"\n"+
		`{"type":"ad","advertiser":"A","campaign":"C","group":"G","status":"removed"}`)
	if !strings.HasPrefix(rejects, "-\t1\theadlines") || strings.Count(rejects, "\n") != 1 {
		t.Errorf("JSON lines: %s", rejects)
	}
}

// TestCampaignTypes: rows of campaigns that are not search campaigns are skipped by type, with everything in these
// campaigns, in this file and the next.
func TestCampaignTypes(t *testing.T) {
	const head = "Account,Campaign,Campaign type,Ad Group,Keyword,Headline 1,Budget,Campaign Status\n"
	for _, search := range []string{"", "[]", "--", "Search", "SEARCH", "Search Network only", "Search Network with Display Select", "Search & content"} {
		if dump, rejects, skipped := imported(t, head+"A,C,"+search+",,,,5,\nA,C,,G,k,,,\n"); skipped != "[]" || rejects != "" || !strings.Contains(dump, "broad k") {
			t.Errorf("%s: %s\n%s%s", search, skipped, dump, rejects)
		}
	}
	for _, other := range []string{"Display", "Shopping", "Performance Max", "Video - Bumper ad", "Search - Mobile app installs", "DEMAND_GEN"} {
		dump, rejects, skipped := imported(t, strings.ReplaceAll(head, "Campaign type", "Advertising channel type")+
			"A,C,"+other+",,,,5,Enabled\nA,C,,G,k,,bad,\nA,C,,G,,h,,\nB,C,,G,k,,,\n")
		if want := fmt.Sprintf("[{row of a campaign of type %q 3}]", other); skipped != want || rejects != "" || !strings.HasPrefix(dump, "B = ") {
			t.Errorf("%s: %s\n%s%s", other, skipped, dump, rejects)
		}
	}
}

// TestCampaignTypesOfEarlierFiles: the types of campaigns in one file apply to the files after it.
func TestCampaignTypesOfEarlierFiles(t *testing.T) {
	var files []string
	for i, text := range []string{"Account,Campaign,Campaign type\nA,C,Display\n", "Account,Campaign,Ad Group,Keyword\nA,C,G,k\n"} {
		files = append(files, filepath.Join(t.TempDir(), fmt.Sprint(i, ".csv")))
		if err := os.WriteFile(files[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	store := newFakeStore()
	sum, err := ingest.Run(t.Context(), store, files, ingest.Options{})
	if err != nil || store.dump() != "" || len(sum.Skipped) != 1 || sum.Skipped[0].Rows != 2 {
		t.Errorf("%+v, %v\n%s", sum, err, store.dump())
	}
}

// TestSearchCampaignTurns: a search campaign whose type changes to another is paused, whether its other rows come
// before or after.
func TestSearchCampaignTurns(t *testing.T) {
	const head = "Account,Campaign,Campaign type,Ad Group,Keyword,Campaign Status\n"
	for _, rows := range []string{"A,C,,G,k,Enabled\nA,C,Display,,,Enabled\n", "A,C,Display,,,Enabled\nA,C,,G,l,Enabled\n"} {
		store := openDatabase(t, filepath.Join(t.TempDir(), "ads.db"))
		var first string
		for range 2 {
			if sum := runInto(t, store, head+"A,C,Search,G,k,\n"); sum.Rejected != 0 {
				t.Errorf("%+v", sum)
			}
			sum := runInto(t, store, head+rows)
			if sum.Warnings != 1 || !strings.Contains(sum.FirstWarnings[0].Text, "is no longer a search campaign, and paused") {
				t.Errorf("%+v", sum)
			}
			found := contents(t, store)
			if !strings.Contains(found, "Name:C CampaignSettings:{Enabled:false") || first != "" && found != first {
				t.Errorf("%s", found)
			}
			first = found
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAccountLevel: a campaign name in angle brackets stands for the account. A negative there becomes one of the
// advertiser, a row that may be a negative is rejected, and all others are skipped.
func TestAccountLevel(t *testing.T) {
	const head = "Account,Campaign,Keyword,Criterion Type,Link Text,Comment,Budget\n"
	for row, want := range map[string]string{
		"A,<ACCOUNT-LEVEL>,free,,,negative,":       "Comment",
		"A,<Account-level>,free,Negative Fuzzy,,,": "Criterion Type",
		"A,<Account-level>,!,Negative Broad,,,":    "Keyword",
		"A,<Account-level>,free,Fuzzy,,,":          "Criterion Type",
		"A,<Account-level>,,,,,5":                  "[{account-level row 1}]",
		"A,<Account-level>,lamp,Broad,,,":          "[{account-level row 1}]",
		"A,<Account-level>,,,All lamps,,":          "[{sitelink 1}]",
		"A,< >,,,,,":                               "[{account-level row 1}]",
	} {
		dump, rejects, skipped := imported(t, head+row+"\n")
		if dump != "" || (skipped != want && !strings.HasPrefix(rejects, "-\t2\t"+want+"\t")) || (rejects != "") == (skipped != "[]") {
			t.Errorf("%s: %s\n%s%s", row, skipped, dump, rejects)
		}
	}
	const more = "Account,Campaign,Ad Group,Keyword,Criterion Type,Status,Time zone,Campaign type,Budget,Campaign Status\n"
	for row, want := range map[string]string{
		"A,<Account-level>,,free,Negative Broad,,,,,":                                                     "A = status=enabled\nA / -broad free = status=enabled\n",
		"A,<Kontoebene>,,\"[free shoes]\",Campaign Negative,,,,,":                                         "A = status=enabled\nA / -exact free shoes = status=enabled\n",
		"A,<ACCOUNT-LEVEL>,G,free,Negative Phrase,Paused,,,5,":                                            "A = status=enabled\nA / -phrase free = status=paused\n",
		"A,<Account-level>,,free,Negative Broad,,,Display,,Paused":                                        "A = status=enabled\nA / -broad free = status=enabled\n",
		"A,<Account-level>,,free,Negative Broad,Removed,,,,":                                              "",
		"A,<Account-level>,,free,Negative Broad,,Asia/Tokyo,,,":                                           "A = status=enabled zone=Asia/Tokyo\nA / -broad free = status=enabled\n",
		"A,<Account-level>,,free,Negative Broad,,,,,\nA,<Account-level>,,free,Negative Broad,Removed,,,,": "A = status=enabled\n",
	} {
		if dump, rejects, skipped := imported(t, more+row+"\n"); dump != want || rejects != "" || skipped != "[]" {
			t.Errorf("%s: %s\n%s%s", row, skipped, dump, rejects)
		}
	}
}

// TestWhatIsNoData: empty rows, repeated headers and rows of totals are skipped and counted.
func TestWhatIsNoData(t *testing.T) {
	const head = "Campaign,Ad Group,Keyword,Ad type,Headline 1,Account,Clicks\n"
	for row, want := range map[string]string{
		",,,,,,":                           "[{empty row 1}]",
		" ,\t,,\u00a0,,,":                  "[{empty row 1}]",
		strings.TrimSpace(head):            "[{repeated header 1}]",
		"\ufeff" + strings.TrimSpace(head): "[{repeated header 1}]",
		"CAMPAIGN,Ad_Group,keyword,ad type,headline1,Account,clicks": "[{repeated header 1}]",
		"Total,,,,,,9":               "[{total 1}]",
		"Total: Account,,,,,A,9":     "[{total 1}]",
		"total - Search,--,--,,,A,9": "[{total 1}]",
		",,,,,,Total":                "[{total 1}]",
		"Total,G,lamp,,,A,":          "[]",
		"Total,G,,,h,A,":             "[]",
		"Totally,,,,,A,":             "[]",
		"C,,,,,Total,":               "[]",
	} {
		dump, rejects, skipped := imported(t, head+row+"\n\n  \n")
		if skipped != want || (dump != "") != (want == "[]") || rejects != "" {
			t.Errorf("%q: %s\n%s%s", row, skipped, dump, rejects)
		}
	}
	if dump, _, skipped := imported(t, "Account,Campaign,Budget\nTotal,C,5\n"); skipped != "[]" || !strings.Contains(dump, "budget=5000000") {
		t.Errorf("an advertiser of that name: %s\n%s", skipped, dump)
	}
}

// TestHarmlessValues: no row is rejected for values that public programs write into every row.
func TestHarmlessValues(t *testing.T) {
	const head = "Account,Campaign,Ad Group,Keyword,Max CPC,Languages,Quality score,Mobile Bid Modifier,Ad rotation\n"
	for _, c := range []struct{ row, want string }{
		{"A,C,G,,0.9,All,,-20%,Do not optimize: rotate ads indefinitely", "A / C = even=true lang=cs status=enabled\nA / C / G = bid=900000 mod1=800 status=enabled\n"},
		{"A,C,G,k,,en;all,--,,", "A / C = lang=cs status=enabled\nA / C / G = status=enabled\nA / C / G / broad k = status=enabled text=k\n"},
		{"A,C,,,,ALL,,,", "A / C = status=enabled\n"},
		{"A,C,G,k,,,7/10,,", "A / C = lang=cs status=enabled\nA / C / G = status=enabled\nA / C / G / broad k = quality=7 status=enabled text=k\n"},
		{"A,C,G,k,,, — ,,", "A / C = lang=cs status=enabled\nA / C / G = status=enabled\nA / C / G / broad k = status=enabled text=k\n"},
		{"A,C,G,k,,,n/a,,", "A / C = lang=cs status=enabled\nA / C / G = status=enabled\nA / C / G / broad k = status=enabled text=k\n"},
	} {
		dump, rejects, _ := imported(t, head+"A,C,,,,cs,,,\n"+c.row+"\n")
		if dump != "A = status=enabled\n"+c.want || rejects != "" {
			t.Errorf("%s:\n%s%s", c.row, dump, rejects)
		}
	}
	for _, row := range []string{"A,C,G,k,,,0/10,,", "A,C,G,k,,,11/10,,", "A,C,G,k,,,7/9,,", "A,C,G,k,--,,,,", "A,C,G,k,\"1,5\",,,,", "A,C,G,k,$1,,,,", "A,C,G,k,1e1,,,,", "A,C,G,k,auto,,,,"} {
		if _, rejects, _ := imported(t, head+row+"\n"); rejects == "" {
			t.Errorf("%s was taken", row)
		}
	}
}

func runInto(t *testing.T, store backend.Store, file string) ingest.Summary {
	t.Helper()
	sum, err := ingest.Run(t.Context(), store, []string{"-"}, ingest.Options{Stdin: strings.NewReader(file)})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}
