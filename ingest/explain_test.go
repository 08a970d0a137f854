package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"adshard/ingest"
)

// TestExplain checks what each column is read as, and the kinds of rows with the first row of each. Both must agree
// with an import of the same file.
func TestExplain(t *testing.T) {
	const file = "sep=;\nAccount name;Campaign;Ad group;Keyword;Type;Max. CPC;Keyword state;Headline;Labels;Campain status;Location\n" +
		"A;C;;;;;;;x;Enabled;\nA;C;G;k;Exact;1;paused;;;;\nA;C;G;free;Negative;;;;x;;\nA;C;;;;;;;;;Czechia\nA;C;G;k;Exact;much;;;;;\n\nA;C;G;l;Exact;2;;;y;;\n;;;;;;;;;;\nA;C;G;;;;;h;;;\n"
	x, err := ingest.Explain(t.Context(), "-", ingest.Options{Stdin: strings.NewReader(file)})
	if err != nil || x.Format != ingest.FormatEditor || x.Separator != ";" {
		t.Fatalf("%+v, %v", x, err)
	}
	var columns, kinds strings.Builder
	for _, c := range x.Columns {
		fmt.Fprintf(&columns, "%s=%s/%s/%d/%s\n", c.Heading, c.As, c.Identifies, c.Unused, c.Meant)
	}
	const wantColumns = "Account name=Account//0/\nCampaign=Campaign//0/\nAd group=Ad Group//0/\nKeyword=Keyword//0/\nType=Criterion Type//0/\n" +
		"Max. CPC=Max CPC//0/\nKeyword state=Keyword Status//0/\nHeadline=Headline 1//0/\nLabels=//3/\nCampain status=//1/Campaign Status\nLocation=Location//0/\n"
	for _, k := range x.Kinds {
		fmt.Fprintf(&kinds, "%s %s %d, %d %d %s\n", k.Does, k.Kind, k.Rows, k.First, len(k.Cells), k.Reason)
	}
	const wantKinds = "import campaigns 1, 2 2 \nimport keywords 2, 3 7 \nimport negatives 1, 4 5 \nimport locations 1, 5 3 \n" +
		"reject Max CPC 1, 6 6 not a money amount: digits, perhaps a point and 1 to 6 digits (found \"much\")\nskip empty row 1, 9 0 \nimport ads 1, 10 4 \n"
	if columns.String() != wantColumns || kinds.String() != wantKinds {
		t.Errorf("%s%s", columns.String(), kinds.String())
	}
	store := newFakeStore()
	sum := runInto(t, store, file)
	var skipped int64
	for _, s := range sum.Skipped {
		skipped += s.Rows
	}
	if sum.Rows != x.Rows || sum.Rejected != 1 || skipped != 1 {
		t.Errorf("an import: %+v", sum)
	}
}

// TestExplainOtherFiles: for JSON lines Explain lists only kinds, no advertiser need be named, and an error that ends an
// import also ends Explain.
func TestExplainOtherFiles(t *testing.T) {
	x, err := ingest.Explain(t.Context(), "-", ingest.Options{Stdin: strings.NewReader(`{"type":"campaign","name":"C"}` + "\n{\n")})
	if err != nil || x.Format != ingest.FormatJSONL || len(x.Columns) != 0 || len(x.Kinds) != 2 || x.Kinds[0].Kind != "campaigns" || x.Kinds[1].Does != ingest.DoesReject {
		t.Errorf("%+v, %v", x, err)
	}
	if x, err = ingest.Explain(t.Context(), "-", ingest.Options{Stdin: strings.NewReader("Campaign\nC\n")}); err != nil || len(x.Kinds) != 1 {
		t.Errorf("%+v, %v", x, err)
	}
	for file, want := range map[string]string{"Kampagne;Wort\n": "English", "Campaign\n\"C": "never closed"} {
		if _, err = ingest.Explain(t.Context(), "-", ingest.Options{Stdin: strings.NewReader(file)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", file, err)
		}
	}
}
