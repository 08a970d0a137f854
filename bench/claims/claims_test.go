package claims

import (
	"strings"
	"testing"

	"adshard/bench/measure"
)

// TestVerdicts: a claim that holds needs no reason; a claim that does not hold, or is not
// decided, has one. Each claim is a row of the table and a line, in the given order.
func TestVerdicts(t *testing.T) {
	list := []Claim{
		{Where: "figure 1", Paper: "a", Ours: "b", Holds: true, Because: "never shown"},
		{Where: "figure 2", Paper: "c", Ours: "d", Holds: true, Remark: "at a glance"},
		{Where: "figure 3", Paper: "e", Ours: "f", Because: "clocks differ", Remark: "as told"},
		{Where: "figure 4", Paper: "g", Ours: "h", Holds: true, Untested: "runs differ", Because: "never shown"},
		{Where: "figure 5", Paper: "i", Ours: "j", Untested: "no such machine"},
	}
	want := []string{
		"figure 1: a. Here: b. Reproduced.",
		"figure 2: c. Here: d. Reproduced; at a glance.",
		"figure 3: e. Here: f. Contradicted, because clocks differ; as told.",
		"figure 4: g. Here: h. Not tested: runs differ.",
		"figure 5: i. Here: j. Not tested: no such machine.",
	}
	var r measure.Report
	Note(&r, list)
	if got := strings.Join(Lines(list), "\n"); got != strings.Join(want, "\n") || strings.Join(r.Notes, "\n") != got {
		t.Errorf("%s\n%v", got, r.Notes)
	}
	rows := Table(list).Groups[0].Rows
	if len(rows) != 5 || rows[3][3].Best || rows[3][3].Bad || rows[4][3].Bad || !rows[0][3].Best || rows[0][3].Bad || !rows[2][3].Bad || rows[2][3].Best {
		t.Errorf("%+v", rows)
	}
}
