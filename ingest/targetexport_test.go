package ingest_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"adshard/backend/backendtest"
	"adshard/ingest"
)

// TestTargetingAsEditorFile: an Editor file has the same dates, schedules, methods and locations as the JSON lines, and
// lines that no cell can express are rejected.
func TestTargetingAsEditorFile(t *testing.T) {
	const line = `{"type":"advertiser","name":"A"}` + "\n" + `{"type":"campaign","advertiser":"A","name":"C","start_date":"2026-03-01","end_date":"2026-03-31",` +
		`"schedule":[{"day":"monday","from":"08:15","to":"24:00","modifier_percent":-12.5},{"day":"friday","from":"00:00","to":"12:00"}],` +
		`"locations":[{"id":2203,"modifier_percent":-10.5},{"id":2840,"exclude":true},{"lat":50.087,"lon":-14.421001,"radius_m":15123},{"lat":1,"lon":2,"radius_m":100,"exclude":true}],` +
		`"location_method":"presence","location_exclusion_method":"presence"}` + "\n"
	var file bytes.Buffer
	if rows, err := ingest.WriteEditorFile(&file, strings.NewReader(line)); err != nil || rows != 5 {
		t.Fatal(rows, err)
	}
	store := openDatabase(t, filepath.Join(t.TempDir(), "ads.db"))
	defer store.Close()
	sum, err := ingest.Run(t.Context(), store, []string{"-"}, ingest.Options{Stdin: &file})
	if err != nil || sum.Rejected != 0 || sum.Wider != nil {
		t.Fatalf("%+v, %v", sum, err)
	}
	c := backendtest.ReadNow(t, store).Campaigns[1]
	if c.StartDate != "2026-03-01" || c.EndDate != "2026-03-31" || !c.LocationPresence || !c.ExclusionPresence ||
		c.Schedule != `[{"day":"monday","from":"08:15","to":"24:00","modifier_percent":-12.5},{"day":"friday","from":"00:00","to":"12:00"}]` ||
		c.Locations != `[{"lat":1,"lon":2,"radius_m":100,"exclude":true},{"lat":50.087,"lon":-14.421001,"radius_m":15123},{"id":2203,"modifier_percent":-10.5},{"id":2840,"exclude":true}]` {
		t.Errorf("%+v", c.CampaignSettings)
	}
	for _, field := range []string{`"audiences":{"target":[{"id":"a"}]}`, `"sites":{"exclude":[{"site":"a.example"}]}`, `"categories":["a"]`} {
		if _, err := ingest.WriteEditorFile(&file, strings.NewReader(`{"type":"campaign","advertiser":"A","name":"C",`+field+"}\n")); err == nil || !strings.Contains(err.Error(), "JSON lines can") {
			t.Errorf("%s: %v", field, err)
		}
	}
}
