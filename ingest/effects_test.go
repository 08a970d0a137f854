package ingest_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"adshard/backend"
	"adshard/ingest"
)

// entities returns the counts of a summary that are not 0, one entity a line.
func entities(sum ingest.Summary) string {
	var b strings.Builder
	for e, n := range sum.Entities {
		if n != (ingest.EffectCounts{}) {
			fmt.Fprintf(&b, "%s +%d ~%d -%d =%d\n", backend.Entity(e), n.Created, n.Changed, n.Removed, n.Left)
		}
	}
	return b.String()
}

// TestSummaryByEntity: the summary counts what was created, changed, removed and left unchanged. It counts each
// entity once, in one transaction or in many.
func TestSummaryByEntity(t *testing.T) {
	const head = "Account,Campaign,Ad Group,Keyword,Criterion Type,Headline 1,Status,Max CPC\n"
	const all = "A,C,G,a,,,,\nA,C,G,b,,,,\nA,C,G,n,Negative Broad,,,\nA,C,,n,Campaign Negative Broad,,,\nA,C,G,,,h,,\nA,D,G,a,,,,\n"
	for _, batch := range []int{0, 1} {
		store := openDatabase(t, filepath.Join(t.TempDir(), "ads.db"))
		defer store.Close()
		for _, step := range []struct{ name, rows, want string }{
			{"created", all, "advertiser +1 ~0 -0 =0\ncampaign +2 ~0 -0 =0\ngroup +2 ~0 -0 =0\nkeyword +3 ~0 -0 =0\nnegative +2 ~0 -0 =0\nad +1 ~0 -0 =0\n"},
			{"left", all, "advertiser +0 ~0 -0 =1\ncampaign +0 ~0 -0 =2\ngroup +0 ~0 -0 =2\nkeyword +0 ~0 -0 =3\nnegative +0 ~0 -0 =2\nad +0 ~0 -0 =1\n"},
			{"changed", "A,C,,,,,Paused,\nA,C,G,,,,,2\nA,C,G,a,,,Paused,\nA,C,G,a,,,,3\nA,C,G,b,,,Enabled,\n",
				"advertiser +0 ~0 -0 =1\ncampaign +0 ~1 -0 =0\ngroup +0 ~1 -0 =0\nkeyword +0 ~1 -0 =1\n"},
			{"created and changed is created", "A,E,G,a,,,,\nA,E,,,,,Paused,\nA,E,G,a,,,Paused,\n",
				"advertiser +0 ~0 -0 =1\ncampaign +1 ~0 -0 =0\ngroup +1 ~0 -0 =0\nkeyword +1 ~0 -0 =0\n"},
			{"created and removed is nothing", "A,F,G,a,,,,\nA,F,,,,,Removed,\n", "advertiser +0 ~0 -0 =1\n"},
			{"removed with what it holds", "A,C,,,,,Removed,\n", "campaign +0 ~0 -1 =0\ngroup +0 ~0 -1 =0\nkeyword +0 ~0 -2 =0\nnegative +0 ~0 -2 =0\nad +0 ~0 -1 =0\n"},
			{"removed and made again", "A,D,,,,,Removed,\nA,D,,,,,,\n",
				"advertiser +0 ~0 -0 =1\ncampaign +1 ~0 -1 =0\ngroup +0 ~0 -1 =0\nkeyword +0 ~0 -1 =0\n"},
			{"not there", "A,X,,,,,Removed,\nB,X,G,a,,,Removed,\n", ""},
			{"rejected", "A,E,G,a,,,nonsense,\n", ""},
		} {
			sum, err := ingest.Run(t.Context(), store, []string{"-"}, ingest.Options{Stdin: strings.NewReader(head + step.rows), BatchRows: batch})
			if err != nil {
				t.Fatal(err)
			}
			if got := entities(sum); got != step.want {
				t.Errorf("%s, transactions of %d:\n%swant\n%s", step.name, batch, got, step.want)
			}
		}
	}
}

// TestNearNames: a row that creates a campaign or an advertiser with a name within two edits of an existing one is
// accepted, with a warning unless the name is short.
func TestNearNames(t *testing.T) {
	store := openDatabase(t, filepath.Join(t.TempDir(), "ads.db"))
	defer store.Close()
	const json = `{"type":"campaign","advertiser":"Acme","name":`
	for _, step := range []struct{ file, want string }{
		{"Account,Campaign\nAcme,Shoes\nAcme,Summer sale\nOther,Boots\n", ""},
		{"Account,Campaign\nAcme,Shoes\nOther,Shose\n", ""},
		{"Account,Campaign\nAcme,Jackets\nAcme,Sheos\nAcme,Sheos\n", `-: row 3, Campaign: campaign "Sheos" of "Acme" did not exist and was created; did you mean "Shoes"?`},
		{"Account,Campaign\nAcme,Sheos\n", ""}, // it exists by now
		{"Account,Campaign,Status\nAcme,Shoe,Removed\n", ""},
		{"Account,Campaign\nAcmé ,Shoes\n", ""}, // too short for a warning
		{json + `"Summer sales"}` + "\n", `-: row 1, name: campaign "Summer sales" of "Acme" did not exist and was created; did you mean "Summer sale"?`},
		{`{"type":"group","advertiser":"Acme","campaign":"Jacket","name":"G"}` + "\n", `-: row 1, campaign: campaign "Jacket" of "Acme" did not exist and was created; did you mean "Jackets"?`},
		{`{"type":"advertiser","name":"Othr"}` + "\n", `-: row 1, name: advertiser "Othr" did not exist and was created; did you mean "Other"?`},
		{"Account,Campaign,Status\nAcme,Jackets,Removed\nAcme,Jacket,Removed\nAcme,Packets,\n", ""}, // Jackets is gone
		{"Account,Campaign\nNew,One thing\nNew,One thin\n", ""},                                     // the file has both names
		{"Account,Campaign\nNew,One thins\n", `-: row 2, Campaign: campaign "One thins" of "New" did not exist and was created; did you mean "One thin"?`},
		{"Account,Campaign\nNew,C3\n", ""},
		{"Account,Campaign\nNew,C10\n", ""}, // they differ only in digits
	} {
		sum, err := ingest.Run(t.Context(), store, []string{"-"}, ingest.Options{Stdin: strings.NewReader(step.file)})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, w := range sum.FirstWarnings {
			got += w.String()
		}
		if got != step.want || int(sum.Warnings) != len(sum.FirstWarnings) || sum.Rejected != 0 {
			t.Errorf("%s%q, want\n%q", step.file, got, step.want)
		}
	}
}
