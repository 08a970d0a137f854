package claims

import (
	"strings"
	"testing"

	"adshard/bench/measure"
)

// TestVerdicts: what holds needs no reason, what does not has one; each is a row of the
// table and a line, in the order given.
func TestVerdicts(t *testing.T) {
	list := []Claim{
		{Where: "figure 1", Paper: "a", Ours: "b", Holds: true, Because: "never shown"},
		{Where: "figure 2", Paper: "c", Ours: "d", Holds: true, Remark: "at a glance"},
		{Where: "figure 3", Paper: "e", Ours: "f", Because: "clocks differ", Remark: "as told"},
	}
	want := []string{
		"figure 1: a. Here: b. Reproduced.",
		"figure 2: c. Here: d. Reproduced; at a glance.",
		"figure 3: e. Here: f. Contradicted, because clocks differ; as told.",
	}
	var r measure.Report
	Note(&r, list)
	if got := strings.Join(Lines(list), "\n"); got != strings.Join(want, "\n") || strings.Join(r.Notes, "\n") != got {
		t.Errorf("%s\n%v", got, r.Notes)
	}
	rows := Table(list).Groups[0].Rows
	if len(rows) != 3 || !rows[0][3].Best || rows[0][3].Bad || !rows[2][3].Bad || rows[2][3].Best {
		t.Errorf("%+v", rows)
	}
}
