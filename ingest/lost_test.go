package ingest_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"adshard/backend"
	"adshard/ingest"
)

// shownWhere lists campaigns with their status and what they target.
func shownWhere(t *testing.T, store backend.Store) string {
	var list []string
	each(t, store, func(c *backend.Campaign) {
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s %s", c.Name, map[bool]string{true: "enabled", false: "paused"}[c.Enabled], c.Locations)))
	}, func(string, *backend.Item) {})
	return sorted(list)
}

// told is what a summary says of what is not as the file has it.
func toldOf(sum ingest.Summary) string {
	list := []string{toldShut(sum)}
	for i := range sum.Wider {
		list = append(list, sum.Wider[i].String())
	}
	for _, r := range sum.First {
		list = append(list, r.Column)
	}
	return strings.Join(list, "\n")
}

// TestRestrictionsAreNotLost: what a file restricts and an import cannot apply pauses the campaign, or is told.
func TestRestrictionsAreNotLost(t *testing.T) {
	const (
		head = "Account,Campaign,Ad Group,Keyword\n"
		old  = head + "A,C,G,lamp\n"
		wide = "served more widely than the file says: 1 location is not applied"
		shut = "restricts it and was rejected"
	)
	long := strings.Repeat("x", 5<<20)
	for name, c := range map[string]struct {
		first, second, want, told string
		by                        ingest.Options
	}{
		// Renames.
		"a place, then a rename": {head + "A,Old,G,lamp\n", "Account,Campaign,Campaign#Original,ID\nA,Old,,2203\nA,New,Old,\n",
			`New enabled [{"id":2203}]`, "", ingest.Options{}},
		"rejected, then renamed and enabled": {head + "A,Old,G,lamp\n", "Account,Campaign,Campaign#Original,ID,Campaign Status\nA,Old,,999999999,\nA,New,Old,,Enabled\n",
			"New paused", `campaign "New"`, ingest.Options{}},
		"the rejected row renames": {head + "A,Old,G,lamp\n", "Account,Campaign,Campaign#Original,Start Date\nA,New,Old,31.3.2026\nA,New,Old,\n",
			"New paused", `campaign "New"`, ingest.Options{}},
		"both names are there, a place": {head + "A,Old,G,lamp\nA,New,G,desk\n", "Account,Campaign,Campaign#Original,ID\nA,New,Old,2203\n",
			"New paused, Old paused", shut, ingest.Options{}},
		"both names are there, a date": {head + "A,Old,G,lamp\nA,New,G,desk\n", "Account,Campaign,Campaign#Original,Start Date\nA,New,Old,2026-05-01\n",
			"New paused, Old paused", shut, ingest.Options{}},
		"both names are there, a budget": {head + "A,Old,G,lamp\nA,New,G,desk\n", "Account,Campaign,Campaign#Original,Budget\nA,New,Old,7\n",
			"New enabled, Old enabled", "Campaign#Original", ingest.Options{}},
		// Records that are too long.
		"a long line":        {old, `{"type":"campaign","advertiser":"A","name":"C","start_date":"2026-05-01","x":"` + long + `"}` + "\n", "C paused", shut, ingest.Options{}},
		"a long row":         {old, "Account,Campaign,ID,Label,Color\nA,C,2203," + long + ",red\n", "C paused", shut, ingest.Options{}},
		"a long quoted cell": {old, "Account,Campaign,Start Date,Label\nA,C,2026-05-01,\"" + long + "\"\n", "C paused", shut, ingest.Options{}},
		// Lines of advertisers.
		"an advertiser's unknown field": {old, `{"type":"advertiser","name":"A","categories":["alcohol"],"industry":"wine"}` + "\n", "C paused", shut, ingest.Options{Advertiser: "B"}},
		"an advertiser's zone":          {old, `{"type":"advertiser","name":"A","time_zone":{"a":1}}` + "\n", "C paused", shut, ingest.Options{}},
		// Names that no database can keep.
		"a name that is not a text": {old, "Account,Campaign,Start Date\nA,C\xff,2026-05-01,surplus\n", "C enabled", "cell 4", ingest.Options{}},
		"a name with NUL":           {old, `{"type":"campaign","advertiser":"A","name":"D\u0000","start_date":"2026-05-01"}` + "\n", "C enabled", "name", ingest.Options{}},
		"a name to be erased":       {old, "Account,Campaign,Start Date\nA,[],2026-05-01,surplus\n", "C enabled", "cell 4", ingest.Options{}},
		// Cells of location rows that are not used.
		"excluded":           {old, "Account,Campaign,Location,Excluded\nA,C,Czechia,Yes\n", "C paused", shut, ingest.Options{}},
		"targeting excluded": {old, "Account,Campaign,Location,Targeting\nA,C,Czechia,Excluded\n", "C paused", shut, ingest.Options{}},
		"removed":            {old, "Account,Campaign,Location,Location status\nA,C,Czechia,Removed\n", "C paused", shut, ingest.Options{}},
		"excluded, said so": {old, "Account,Campaign,Location,Excluded,Criterion Type\nA,C,Czechia,Yes,Negative\n",
			`C enabled [{"id":2203,"exclude":true}]`, "", ingest.Options{}},
		// Places of rows that are of another kind.
		"a keyword's place":       {"", head[:len(head)-1] + ",Location\nA,C,G,lamp,Czechia\n", "C enabled", wide, ingest.Options{}},
		"a keyword's place by id": {"", head[:len(head)-1] + ",Location ID\nA,C,G,lamp,2203\n", "C enabled", wide, ingest.Options{}},
		"a keyword's own id":      {"", head[:len(head)-1] + ",ID\nA,C,G,lamp,2203\n", "C enabled", "", ingest.Options{}},
		"a label's place":         {old, "Account,Campaign,Location,Label\nA,C,Czechia,vip\n", "C enabled", wide, ingest.Options{}},
		"an experiment's place":   {old, "Account,Campaign,Location,Experiment\nA,C,Czechia,none\n", "C enabled", wide, ingest.Options{}},
		"a row of type Excluded":  {old, "Account,Campaign,ID,Type\nA,C,2203,Excluded\n", "C enabled", "1 other exclusion is not applied", ingest.Options{}},
	} {
		store := openDatabase(t, filepath.Join(t.TempDir(), "ads.db"))
		if c.first != "" {
			importing(t, store, ingest.Options{}, c.first)
		}
		sum := importing(t, store, c.by, c.second)
		if got, told := shownWhere(t, store), toldOf(sum); got != c.want || !strings.Contains(told, c.told) || c.told == "" && strings.TrimSpace(told) != "" {
			t.Errorf("%s: %s, want %s; told %q, want %q", name, got, c.want, told, c.told)
		}
		store.Close()
	}
}

// TestPlacesUnderTwoNames: two columns for one part of a place are an error of the file.
func TestPlacesUnderTwoNames(t *testing.T) {
	for _, header := range []string{"ID,Location ID", "Location,Geo targeting"} {
		store := openDatabase(t, filepath.Join(t.TempDir(), "ads.db"))
		_, err := ingest.Run(t.Context(), store, []string{"-"}, ingest.Options{Stdin: strings.NewReader("Account,Campaign," + header + "\nA,C,,2203\n")})
		if err == nil || !strings.Contains(err.Error(), "two columns for") {
			t.Errorf("%s: %v", header, err)
		}
		store.Close()
	}
}

// TestALocationTooManyChangesNothing: a campaign's 10,001st location is rejected with the row's other cells, and pauses.
func TestALocationTooManyChangesNothing(t *testing.T) {
	var b strings.Builder
	b.WriteString("Account,Campaign,Location,Radius,Unit,Budget\n")
	for i := range 10_000 {
		fmt.Fprintf(&b, "A,C,\"50.%06d,14\",1,km,\n", i)
	}
	b.WriteString("A,C,\"51.5,14\",1,km,9.00\nA,C,\"50.000001,14\",1,km,\n") // one too many, and one that is there
	store := openDatabase(t, filepath.Join(t.TempDir(), "ads.db"))
	defer store.Close()
	if sum := importing(t, store, ingest.Options{}, b.String()); sum.Rejected != 1 {
		t.Errorf("%d rows are rejected", sum.Rejected)
	}
	each(t, store, func(c *backend.Campaign) {
		if c.HasBudget || c.Enabled {
			t.Errorf("%+v", c)
		}
	}, func(string, *backend.Item) {})
}

// TestTheLargestCampaignIsOneLine: a campaign with as much as it may have is exported as a line that can be imported.
func TestTheLargestCampaignIsOneLine(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"type":"campaign","advertiser":"A","name":"C","locations":[`)
	for i := range 10_000 {
		fmt.Fprintf(&b, `%s{"lat":-50.%06d,"lon":-114.421001,"radius_m":150001,"modifier_percent":-10.5}`, strings.Repeat(",", min(i, 1)), i*7+1)
	}
	b.WriteString(`],"sites":{"include":[`)
	for i := range 1000 {
		fmt.Fprintf(&b, `%s{"site":"a%d.example.com/%s"}`, strings.Repeat(",", min(i, 1)), i, strings.Repeat("x", 450))
	}
	b.WriteString("]}}\n")
	store := openDatabase(t, filepath.Join(t.TempDir(), "ads.db"))
	defer store.Close()
	if sum := importing(t, store, ingest.Options{}, b.String()); sum.Rejected > 0 {
		t.Fatalf("%+v", sum.First)
	}
	if sum := importing(t, store, ingest.Options{}, export(t, store)); sum.Rejected > 0 || sum.ClockAfter != sum.ClockBefore {
		t.Errorf("its export: %+v", sum)
	}
}
