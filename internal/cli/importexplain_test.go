package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestImportExplain: a file can be explained without a database.
func TestImportExplain(t *testing.T) {
	good := file(t, "good.csv", "Account,Campaign,Budgt\nA,C,5\n")
	status, out, errOut := run(t, "adshard", "import", "--explain", good)
	for _, want := range []string{"cells separated by commas, 1 row\n", `"Budgt"`, `not used, filled in 1 imported row; did you mean "Budget"?`, `row 2: Account "A", Campaign "C"`} {
		if status != exitDone || !strings.Contains(out, want) {
			t.Errorf("%d, %s%s; want %s", status, out, errOut, want)
		}
	}
	bad := file(t, "bad.csv", "Account,Campaign,Budget\nA,C,much\n")
	status, out, _ = run(t, "adshard", "import", "--explain", "--json", good, bad)
	var line struct {
		Explanation struct {
			File  string `json:"file"`
			Kinds []struct {
				Does string `json:"does"`
			} `json:"kinds"`
		} `json:"explanation"`
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &line); err != nil || status != exitRejects || len(lines) != 2 ||
		line.Explanation.File != bad || len(line.Explanation.Kinds) != 1 || line.Explanation.Kinds[0].Does != "reject" {
		t.Errorf("%d, %v: %s", status, err, out)
	}
	if status, _, errOut = run(t, "adshard", "import", "--explain", "--db", "sqlite:x.db", good); status != exitUsage || !strings.Contains(errOut, "leave out --db") {
		t.Errorf("%d, %s", status, errOut)
	}
}

// TestImportTells: the summary names what was not used and what may be a mistake, for people and programs.
func TestImportTells(t *testing.T) {
	db := "sqlite:" + t.TempDir() + "/ads.db"
	path := file(t, "ads.csv", "Account,Campaign,Ad Group,Keyword,Path 1,Quality score,Campain status\nA,C,G,k,cheap,--,\nA,C,G,K!,,,enabled\n")
	_, out, _ := run(t, "adshard", "import", "--db", db, path)
	for _, want := range []string{
		"not used: column \"Campain status\", filled in 1 row; did you mean \"Campaign Status\"?\nnot used: column \"Path 1\" of keywords, filled in 1 row\n",
		`1 keyword has no bid, neither its own nor its ad group's, and is not shown: broad "K!" in ad group "G"`,
		"1 row gives an entity different values than an earlier row of the file; the last holds: " + path + ": row 3, keyword \"K!\"\n",
		`1 quality score is not a whole number: it was read as empty, or by the n of n/10: "--"`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%s\nwant %s", out, want)
		}
	}
	_, out, _ = run(t, "adshard", "import", "--json", "--db", db, path)
	for _, want := range []string{`"unused_columns":[{"column":"Campain status","rows":1,"did_you_mean":"Campaign Status"},{"column":"Path 1","of":"keywords","rows":1}]`,
		`"notes":[{"kind":"keywords_without_bid","count":1,"first":["broad \"K!\" in ad group \"G\""]},`} {
		if !strings.Contains(out, want) {
			t.Errorf("%s\nwant %s", out, want)
		}
	}
}
