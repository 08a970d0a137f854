package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// countsData has a keyword that users click often, one that they hardly ever click, and a row that is wrong.
const (
	countsData = "Account,Campaign,Ad Group,Keyword,Criterion Type,Max CPC\nAcme,Shoes,G,red shoes,Exact,1\nAcme,Shoes,G,old shoes,Exact,1\nAcme,Shoes,G,new shoes,Exact,1\n"
	countsCSV  = "day,campaign,group,keyword,ad,position,impressions,clicks\n2026-11-22,1,1,1,1,1,10000,2000\n2026-11-23,1,1,2,1,1,10000,100\n"
	wrongRow   = "2026-11-23,1,1,2,1,0,1,1\n"
)

func learnt(t *testing.T, csv string, more ...string) (db string, status int, out, errOut string) {
	t.Helper()
	db = "sqlite:" + filepath.Join(t.TempDir(), "ads.db")
	if status, _, errOut := run(t, "adshard", "import", "--db", db, file(t, "data.csv", countsData)); status != exitDone {
		t.Fatal(errOut)
	}
	status, out, errOut = runIn(t, csv, "adshard", append([]string{"quality", "learn", "--db", db, "--scale", "0.02", "--strength", "5", "--today", "2026-11-23"}, append(more, "-")...)...)
	return db, status, out, errOut
}

// TestQualityLearn: a dry run shows the changes but makes none. Without --dry-run the database has the changes shown,
// and a second run changes nothing.
func TestQualityLearn(t *testing.T) {
	const want = `keyword 1 "red shoes" exact of "Acme" / "Shoes" / "G": quality 5 -> 10; rate `
	db, status, out, errOut := learnt(t, countsCSV, "--dry-run")
	if status != exitDone || !strings.HasPrefix(out, want) || !strings.Contains(out, "dry run, the database is unchanged: 2 rows, 0 rejected; 3 qualities change, 0 stay;") {
		t.Fatalf("%d\n%s%s", status, out, errOut)
	}
	again := func() string {
		_, out, _ := runIn(t, countsCSV, "adshard", "quality", "learn", "--db", db, "--scale", "0.02", "--strength", "5", "--today", "2026-11-23", "-")
		return out
	}
	if first := again(); !strings.Contains(first, "; 3 qualities change, 0 stay;") {
		t.Errorf("after the dry run:\n%s", first)
	}
	if second := again(); !strings.Contains(second, "; 0 qualities change, 3 stay;") {
		t.Errorf("the second run:\n%s", second)
	}
}

// TestQualityRejects: wrong rows are named, and the others are used.
func TestQualityDayToCome(t *testing.T) {
	db, _, _, _ := learnt(t, countsCSV, "--dry-run")
	status, _, errOut := runIn(t, countsCSV+"9062-11-23,1,1,2,1,1,1,0\n", "adshard", "quality", "learn", "--db", db, "-")
	if status != exitFailed || !strings.Contains(errOut, "9062-11-23, is still to come") {
		t.Errorf("%d %s", status, errOut)
	}
}

func TestQualityRejects(t *testing.T) {
	_, status, out, errOut := learnt(t, countsCSV+wrongRow)
	if status != exitRejects || !strings.Contains(out, "3 rows, 1 rejected; 3 qualities change") || !strings.Contains(errOut, "row 4, position: position 0: 1 to 20") {
		t.Errorf("%d\n%s%s", status, out, errOut)
	}
}

// TestQualityMoreClicks: an ad that was clicked more often than shown, over all days and files, is listed and nothing
// is learned from it. Single days may have more clicks.
func TestQualityMoreClicks(t *testing.T) {
	clicksOfAnotherDay := "2026-11-23,1,1,1,1,1,0,7\n"
	_, status, out, errOut := learnt(t, countsCSV+clicksOfAnotherDay)
	if status != exitDone || errOut != "" || !strings.Contains(out, "3 rows, 0 rejected; 3 qualities change") {
		t.Errorf("a click of another day: %d\n%s%s", status, out, errOut)
	}
	_, status, out, errOut = learnt(t, countsCSV+"2026-11-23,1,1,3,1,1,5,61\n", "--dry-run", "--explain", "3", "--half-life", "0")
	if status != exitRejects || !strings.Contains(errOut, "refused: ad 1 of keyword 3 in position 1 (campaign 1, group 1): 61 clicks of 5 impressions") ||
		!strings.Contains(out, "group     20000.0      2100.0") {
		t.Errorf("%d\n%s%s", status, out, errOut)
	}
}

// TestQualityExplains: an explanation has the counts of each level, as text and as JSON.
func TestQualityExplains(t *testing.T) {
	_, status, out, errOut := learnt(t, countsCSV, "--dry-run", "--explain", "3", "--half-life", "0")
	if status != exitDone || !strings.Contains(out, "keyword 3: rate ") || !strings.Contains(out, "group     20000.0      2100.0") {
		t.Errorf("%d\n%s%s", status, out, errOut)
	}
	_, status, out, errOut = learnt(t, countsCSV, "--dry-run", "--json", "--explain", "1", "--half-life", "0")
	var lines []string
	for line := range strings.Lines(out) {
		var object map[string]map[string]any
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		for name, values := range object {
			lines = append(lines, fmt.Sprint(name, " ", values["keyword_id"], " ", values["to"], " ", values["changed"]))
		}
	}
	if got := strings.Join(lines, "; "); status != exitDone || got != "change 1 10 <nil>; change 2 1 <nil>; change 3 8 <nil>; explanation 1 <nil> <nil>; summary <nil> <nil> 3" {
		t.Errorf("%d %s\n%s%s", status, got, out, errOut)
	}
	db, status, _, errOut := learnt(t, countsCSV, "--explain", "9")
	if status != exitFailed || !strings.Contains(errOut, "--explain 9") {
		t.Errorf("%d %s", status, errOut)
	}
	if _, out, _ = runIn(t, countsCSV, "adshard", "quality", "learn", "--db", db, "--scale", "0.02", "--strength", "5", "--today", "2026-11-23", "-"); !strings.Contains(out, "; 3 qualities change, 0 stay;") {
		t.Errorf("what failed has written:\n%s", out)
	}
}

func TestQualityRefuses(t *testing.T) {
	db := "sqlite:" + filepath.Join(t.TempDir(), "none.db")
	for args, says := range map[string]string{
		"--db " + db:                     "name at least one file",
		"x.csv":                          "--db is missing",
		"--db " + db + " --today x -":    "2026-11-23",
		"--db " + db + " --scale 2 -":    "--scale 2",
		"--db " + db + " --strength 2e9": "strength",
	} {
		list := append([]string{"quality", "learn"}, strings.Fields(args)...)
		if strings.HasSuffix(args, "2e9") {
			list = append(list, "-")
		}
		if status, _, errOut := run(t, "adshard", list...); status == exitDone || !strings.Contains(errOut, says) {
			t.Errorf("%s: %d %s", args, status, errOut)
		}
	}
	if status, _, errOut := run(t, "adshard", "quality", "learn", "--db", db, "-"); status != exitFailed || !strings.Contains(errOut, "does not exist") {
		t.Errorf("%d %s", status, errOut)
	}
}

// TestQualityGiven: learned qualities can be removed, and a repetition changes nothing.
func TestQualityGiven(t *testing.T) {
	db, status, _, errOut := learnt(t, countsCSV)
	if status != exitDone {
		t.Fatal(errOut)
	}
	for _, c := range []struct{ args, says string }{
		{"--dry-run", "dry run, the database is unchanged: 3 learned qualities would be taken back, 0 keywords have none"},
		{"", "3 learned qualities are taken back, 0 keywords had none"},
		{"", "0 learned qualities are taken back, 3 keywords had none"},
	} {
		if status, out, errOut := run(t, "adshard", append([]string{"quality", "given", "--db", db}, strings.Fields(c.args)...)...); status != exitDone || !strings.Contains(out, c.says) {
			t.Errorf("%q: %d %s%s", c.args, status, out, errOut)
		}
	}
	_, out, _ := runIn(t, countsCSV, "adshard", "quality", "learn", "--db", db, "--scale", "0.02", "--strength", "5", "--today", "2026-11-23", "--dry-run", "-")
	if !strings.Contains(out, "quality 5 -> 10") {
		t.Errorf("learned again from what was given:\n%s", out)
	}
}
