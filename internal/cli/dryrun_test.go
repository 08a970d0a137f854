package cli

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const dryHead = "Account,Campaign,Ad Group,Keyword,Criterion Type,Max CPC,Headline 1,Final URL,Campaign Daily Budget,Languages,Mobile Bid Modifier,Status,Placement\n"

// dryBefore is the content of the database, and dryChange the file of the dry run.
const (
	dryBefore = dryHead + "Acme,Shoes,,,,,,,10,en,,,\nAcme,Shoes,G,,,1,,,,,-20.5,,\nAcme,Shoes,G,red shoes,Exact,2,,,,,,,\nAcme,Shoes,G,old,,,,,,,,,\n" +
		"Acme,Shoes,G,,,,Buy,https://a.example/,,,,,\nAcme,Gone,H,k,,,,,,,,,\nAcme,Gone,,n,Campaign Negative Broad,,,,,,,,\n"
	dryChange = dryHead + "Acme,Shoes,,,,,,,[],cs;en,,,\nAcme,Shoes,G,,,[],,,,,15,Paused,\nAcme,Shoes,G,Red Shoes,Exact,2.5,,,,,,,\nAcme,Shoes,G,old,,,,,,,,Removed,\n" +
		"Acme,Shoes,G,\"n\x1b[2J\",Negative Phrase,,,,,,,,\nAcme,Gone,,,,,,,,,,Removed,\nAcme,Sheos,,,,,,,,,,,\nAcme,Shoes,,,,,,,,,,Removed,Czechia\n" +
		"Acme,Shoes,G,x,,much,,,,,,,\nNew,C,G,,,,Head,,,,,,\n"
)

const dryDifferences = `created advertiser "New": time_zone "UTC", status "enabled"
changed campaign "Acme" / "Shoes": daily_budget_micros 10000000 -> null, languages ["en"] -> ["cs","en"]
removed campaign "Acme" / "Gone"
removed negative "Acme" / "Gone" / "n" "broad"
created campaign "Acme" / "Sheos": delivery_method "accelerated", ad_rotation "optimize", location_method "presence_or_interest", location_exclusion_method "presence_or_interest", status "enabled"
created campaign "New" / "C": delivery_method "accelerated", ad_rotation "optimize", location_method "presence_or_interest", location_exclusion_method "presence_or_interest", status "enabled"
changed group "Acme" / "Shoes" / "G": max_cpc_micros 1000000 -> null, mobile_bid_modifier -20.5 -> 15, status "enabled" -> "paused"
changed keyword "Acme" / "Shoes" / "G" / "Red Shoes" "exact": text "red shoes" -> "Red Shoes", max_cpc_micros 2000000 -> 2500000
removed keyword "Acme" / "Shoes" / "G" / "old" "broad"
created negative "Acme" / "Shoes" / "G" / "n\u001b[2J" "phrase": status "enabled"
removed group "Acme" / "Gone" / "H"
removed keyword "Acme" / "Gone" / "H" / "k" "broad"
created group "New" / "C" / "G": status "enabled"
created ad "New" / "C" / "G" / ["Head"]: status "enabled"
`

const dryTable = `            created  changed  removed  left
advertiser  1        0        0        1
campaign    2        1        1        0
group       1        1        1        0
keyword     0        1        2        0
negative    1        0        1        0
ad          1        0        0        0
skipped 1 row: placement 1
`

// TestDryRun: a dry run shows the differences entity by entity, has the same rejects, skipped rows, warnings and
// counts as the import, and changes nothing.
func TestDryRun(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", filepath.Join(dir, "tmp"))
	path := filepath.Join(dir, "ads.db")
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	before, change := put(t, filepath.Join(dir, "before.csv"), dryBefore), put(t, filepath.Join(dir, "change.csv"), dryChange)
	if status, _, errOut := run(t, "adshard", "import", "--db", "sqlite:"+path, before); status != exitDone {
		t.Fatal(errOut)
	}
	all := func() string { return files(t, dir) + files(t, filepath.Join(dir, "tmp")) }
	was := all()
	for range 2 {
		status, out, errOut := run(t, "adshard", "import", "--dry-run", "--db", "sqlite:"+path, change)
		differences, rest, _ := strings.Cut(out, "dry run, the database is unchanged: 10 rows in ")
		_, table, _ := strings.Cut(rest, "\n")
		if status != exitRejects || differences != dryDifferences || table != dryTable {
			t.Errorf("%d\n%s", status, out)
		}
		if !strings.Contains(errOut, `row 10, Max CPC`) || !strings.Contains(errOut, `did you mean "Shoes"?`) {
			t.Errorf("%s", errOut)
		}
		if now := all(); now != was {
			t.Error("the dry run has left something behind")
		}
	}
	status, out, errOut := run(t, "adshard", "import", "--db", "sqlite:"+path, change)
	if _, table, _ := strings.Cut(out, "\n"); status != exitRejects || table != dryTable || !strings.Contains(errOut, `did you mean "Shoes"?`) {
		t.Errorf("the import: %d\n%s%s", status, out, errOut)
	}
	_, out, _ = run(t, "adshard", "import", "--dry-run", "--db", "sqlite:"+path, change)
	if !strings.HasPrefix(out, "dry run, ") || !strings.Contains(out, "nothing changed") {
		t.Errorf("after the import:\n%s", out)
	}
}

// TestDryRunWithoutDatabase: a dry run creates no database.
func TestDryRunWithoutDatabase(t *testing.T) {
	dir := t.TempDir()
	input := put(t, filepath.Join(dir, "a.csv"), editor)
	was := files(t, dir)
	status, out, errOut := run(t, "adshard", "import", "--dry-run", "--db", "sqlite:"+filepath.Join(dir, "ads.db"), input)
	if status != exitDone || errOut != "" || !strings.HasPrefix(out, "created advertiser \"Acme\"") || files(t, dir) != was {
		t.Errorf("%d %q %q\n%s", status, out, errOut, files(t, dir))
	}
	status, _, errOut = run(t, "adshard", "import", "--dry-run", "--db", "sqlite:"+filepath.Join(dir, "none", "ads.db"), input)
	if status != exitFailed || !strings.Contains(errOut, "there is no folder") {
		t.Errorf("%d %q", status, errOut)
	}
	status, _, errOut = run(t, "adshard", "import", "--dry-run", "--db", "sqlite:"+input, input)
	if status != exitFailed || !strings.Contains(errOut, "a.csv") || files(t, dir) != was {
		t.Errorf("%d %q", status, errOut)
	}
}

// TestImportJSON: for programs, the output has one JSON object a line, and the summary comes last.
func TestImportJSON(t *testing.T) {
	dir := t.TempDir()
	before, change := put(t, filepath.Join(dir, "before.csv"), dryBefore), put(t, filepath.Join(dir, "change.csv"), dryChange)
	db := "sqlite:" + filepath.Join(dir, "ads.db")
	type line struct {
		Difference *struct {
			Effect, Entity, Advertiser, Campaign, Group string
			Before, After                               map[string]any
		}
		Summary *struct {
			DryRun   bool `json:"dry_run"`
			Rows     int
			Rejected int
			Entities map[string]map[string]int
			Skipped  map[string]int
			Warnings int
		}
	}
	read := func(args ...string) (lines []line) {
		t.Helper()
		_, out, _ := run(t, "adshard", append([]string{"import", "--json", "--db", db}, args...)...)
		for scan := bufio.NewScanner(strings.NewReader(out)); scan.Scan(); {
			var l line
			if err := json.Unmarshal(scan.Bytes(), &l); err != nil {
				t.Fatalf("%s: %v", scan.Text(), err)
			}
			lines = append(lines, l)
		}
		return lines
	}
	if lines := read(before); len(lines) != 1 || lines[0].Summary.DryRun || lines[0].Summary.Entities["keyword"]["created"] != 3 {
		t.Fatalf("%+v", lines)
	}
	lines := read("--dry-run", change)
	last := lines[len(lines)-1].Summary
	if len(lines) != 1+strings.Count(dryDifferences, "\n") || last == nil || !last.DryRun || last.Rows != 10 || last.Rejected != 1 || last.Warnings != 1 ||
		last.Skipped["placement"] != 1 || last.Entities["campaign"]["created"] != 2 || last.Entities["ad"]["left"] != 0 {
		t.Fatalf("%d lines, %+v", len(lines), last)
	}
	at := slices.IndexFunc(lines, func(l line) bool { return l.Difference.Entity == "keyword" })
	k := lines[at].Difference
	if k.Effect != "changed" || k.Advertiser != "Acme" || k.Campaign != "Shoes" || k.Group != "G" || k.Before["text"] != "red shoes" ||
		k.After["text"] != "Red Shoes" || k.After["max_cpc_micros"] != 2.5e6 || k.After["match_type"] != "exact" {
		t.Errorf("%+v", k)
	}
}
