package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const geotargets = `Criteria ID,Name,Canonical Name,Parent ID,Country Code,Target Type,Status
9000002,Prague,"Prague,Prague Region,Czechia",9000001,CZ,City,Active
9000001,Prague Region,"Prague Region,Czechia",2203,CZ,Region,Active
9000003,Lost,,9999999,CZ,City,Active
`

func TestLocations(t *testing.T) {
	dir := t.TempDir()
	db, rejects := "sqlite:"+filepath.Join(dir, "ads.db"), filepath.Join(dir, "rejects.tsv")
	places := file(t, "geotargets.csv", geotargets)
	status, out, errOut := run(t, "adshard", "locations", "import", "--db", db, "--rejects", rejects, places)
	if status != 3 || !strings.HasPrefix(out, "3 rows, 1 rejected; places: 2 created, 0 changed, 0 left; table ") || !strings.Contains(errOut, "row 4, Parent ID:") {
		t.Errorf("%d %q %q", status, out, errOut)
	}
	if told, err := os.ReadFile(rejects); err != nil || !strings.HasPrefix(string(told), places+"\t4\tParent ID\t") {
		t.Errorf("%q, %v", told, err)
	}
	status, out, errOut = run(t, "adshard", "locations", "import", "--db", db, "--rejects", rejects, "--json", places) // replaces the report
	var sum struct {
		Rows, Rejected, Created, Changed, Left int
		Version                                string `json:"locations_version"`
	}
	if err := json.Unmarshal([]byte(out), &sum); err != nil || status != 3 || sum.Left != 2 || sum.Created+sum.Changed != 0 || len(sum.Version) != 16 {
		t.Errorf("%d %s %q %v", status, out, errOut, err)
	}
	status, out, errOut = run(t, "adshard", "locations", "find", "--db", db, "czechia", "PRAG")
	if status != exitDone || !strings.Contains(out, "9000001  Prague Region,Czechia") || strings.Index(out, "9000002") < strings.Index(out, "9000001") || errOut != "" {
		t.Errorf("%d %q %q", status, out, errOut)
	}
	status, out, _ = run(t, "adshard", "locations", "find", "--json", "cote", "ivoire")
	var found struct {
		Places []struct {
			ID   int
			Name string
		}
		Total int
	}
	if err := json.Unmarshal([]byte(out), &found); err != nil || status != exitDone || found.Total != 1 || found.Places[0].ID != 2384 || found.Places[0].Name != "Côte d’Ivoire" {
		t.Errorf("%d %s %v", status, out, err)
	}
	if status, out, errOut := run(t, "adshard", "locations", "find", "nowhere"); status != exitDone || out != "" || !strings.Contains(errOut, "no place") {
		t.Errorf("%d %q %q", status, out, errOut)
	}
	for _, args := range [][]string{{"import", "--db", db}, {"import", "--db", db, places, places}, {"find", "--db", db}, {}, {"find", "\xff"}, {"import", places}} {
		if status, _, _ := run(t, "adshard", append([]string{"locations"}, args...)...); status != exitUsage {
			t.Errorf("%q: %d", args, status)
		}
	}
	if status, _, errOut := run(t, "adshard", "locations", "import", "--db", db, file(t, "ads.csv", editor)); status != exitFailed || !strings.Contains(errOut, "Criteria ID") {
		t.Errorf("%d %q", status, errOut)
	}
}
