package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"adshard/ingest"
	"adshard/internal/node/admin"
	"adshard/internal/node/data"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/metrics"
	"adshard/internal/node/nodetest"
)

// serveData serves the data of a database on an admin port. It loses the answers of the next requests, as many as
// lost says.
func serveData(t *testing.T, db *nodetest.Database, lost *atomic.Int32) string {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	h := admin.New(admin.Config{Registry: metrics.NewRegistry(), Ready: func() []string { return nil }, Log: log,
		Data: data.New(db.DB, func(context.Context, uint64) error { return nil }, log)})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if lost.Add(-1) >= 0 {
			h.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// dataWorld has an advertiser with a campaign of two groups, each with two keywords and an ad.
func dataWorld(t *testing.T) (db *nodetest.Database, lost *atomic.Int32, do func(args ...string) (int, string, string)) {
	t.Helper()
	db, lost = nodetest.NewDatabase(t), new(atomic.Int32)
	db.Write(1, 2, 2, 450_000)
	url := serveData(t, db, lost)
	return db, lost, func(args ...string) (int, string, string) {
		return run(t, "adshard", append(args, "--addr", url)...)
	}
}

func TestDataCommands(t *testing.T) {
	_, _, do := dataWorld(t)
	for _, c := range []struct {
		args string
		want []string
	}{
		{"list advertisers", []string{"1   enabled  advertiser 0  time_zone=UTC\n"}},
		{"list groups --campaign 1 --limit 1", []string{"group 0", "max_cpc_micros=450000", "there are more: --cursor "}},
		{"list keywords --group 2", []string{"word0 usb1 cable (broad)", "quality_score=5"}},
		{"pause keyword 3 4 --group 2 --wait", []string{"updated keyword 3, paused: word0 usb1 cable (broad) quality_score=5\n", "updated keyword 4, paused", "served by all slaves\n"}},
		{"get keyword 3 --group 2", []string{"keyword 3, paused: word0", "  quality_score=5\n", "ETag \""}},
		{"resume keywords 3 --group 2", []string{"updated keyword 3, enabled"}},
		{"set group 2 max_cpc_micros=70000 mobile_bid_modifier=-20", []string{"max_cpc_micros=70000 mobile_bid_modifier=-20"}},
		{"set group 2 max_cpc_micros=null", []string{"group 1 mobile_bid_modifier=-20\n"}},
		{"set campaign 1 languages=cs,en ad_rotation=even status=paused", []string{"campaign 1, paused", "languages=cs,en ad_rotation=even\n"}},
		{"set advertiser 1 time_zone=Europe/Prague", []string{"time_zone=Europe/Prague\n"}},
		{"get ad 1 --group 1", []string{"ad 1, enabled: h\n", "  description d\n"}},
	} {
		status, out, errOut := do(strings.Fields(c.args)...)
		for _, want := range c.want {
			if status != exitDone || errOut != "" || !strings.Contains(out, want) {
				t.Errorf("adshard %s: %d\n%s%swant %q", c.args, status, out, errOut, want)
			}
		}
	}
	_, out, _ := do("get", "group", "2", "--json")
	var got api.ItemAnswer
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Item.Name != "group 1" {
		t.Fatalf("%v %s", err, out)
	}
	for _, want := range []int{exitDone, exitFailed} { // the second time the version is no longer current
		if status, _, errOut := do("set", "group", "2", "max_cpc_micros=5", "--if-match", got.Item.Etag); status != want {
			t.Errorf("status %d: %s", status, errOut)
		}
	}
	for _, c := range []struct{ args, says string }{
		{"list", "name one kind"},
		{"list shops", `no kind "shops"; there are advertisers`},
		{"list keywords", "--group ID"},
		{"list negatives", "--campaign ID"},
		{"list negatives --group 1 --campaign 1", "not both"},
		{"list negatives --advertiser 1 --campaign 1", "not both"},
		{"list negatives", "--advertiser ID"},
		{"list groups --limit 0", "limit"},
		{"list groups --cursor x", "cursor"},
		{"get keyword", "a kind and an id"},
		{"get keyword x --group 1", "not an id"},
		{"pause campaign", "one id or more"},
		{"set group 2", "a field with its value"},
		{"set group 2 max_cpc_micros", "FIELD=VALUE"},
		{"set group 2 op=remove", "FIELD=VALUE"},
		{"set group 2 status=paused status=enabled", "FIELD=VALUE"},
		{"set group 2 max_cpc_micros=cheap", "max_cpc_micros"},
		{"set group 2 name=other", "cannot be changed"},
		{"set group 2 colour=red", "colour"},
		{"export --json", "--out"},
		{"export --format auto", "editor"},
	} {
		status, out, errOut := do(strings.Fields(c.args)...)
		if status != exitUsage || out != "" || !strings.Contains(errOut, c.says) {
			t.Errorf("adshard %s: %d %q %q; want 2 and %q", c.args, status, out, errOut, c.says)
		}
	}
	if status, _, errOut := do("pause", "keyword", "3", "99", "--group", "2"); status != exitFailed || !strings.Contains(errOut, "keyword 99 of group 2") {
		t.Errorf("%d %s", status, errOut)
	}
	if _, out, _ := do("get", "keyword", "3", "--group", "2"); !strings.Contains(out, "keyword 3, enabled") {
		t.Errorf("a part of it was done: %s", out)
	}
}

// TestLostAnswers: a change whose answer was lost is sent again, but made only once.
func TestLostAnswers(t *testing.T) {
	db, lost, do := dataWorld(t)
	before, err := db.DB.Newest(t.Context())
	db.Must(err)
	lost.Store(2)
	status, out, errOut := do("pause", "group", "1", "--json")
	now, err := db.DB.Newest(t.Context())
	db.Must(err)
	if status != exitDone || now.Clock != before.Clock+1 || !strings.Contains(out, `"replayed":true`) {
		t.Errorf("%d, clock %d after %d: %s%s", status, now.Clock, before.Clock, out, errOut)
	}
}

// TestExportThenImport: importing an export changes nothing.
func TestExportThenImport(t *testing.T) {
	db, lost, do := dataWorld(t)
	path := filepath.Join(t.TempDir(), "ads.jsonl")
	status, out, errOut := do("export", "--out", path)
	if status != exitDone || out != "10 lines are in "+path+"\n" || errOut != "" {
		t.Fatalf("%d %q %q", status, out, errOut)
	}
	before, err := db.DB.Newest(t.Context())
	db.Must(err)
	sum, err := ingest.Run(t.Context(), db.DB, []string{path}, ingest.Options{})
	if err != nil || sum.Rows != 10 || sum.Rejected != 0 || sum.ClockAfter != before.Clock {
		t.Errorf("%+v, %v", sum, err)
	}
	if _, err := os.Stat(path + ".part"); err == nil {
		t.Error("the part is left")
	}
	whole, err := os.ReadFile(path)
	db.Must(err)
	if status, out, _ := do("export"); status != exitDone || out != string(whole) {
		t.Errorf("to standard output: %d %s", status, out)
	}
	if status, _, errOut := do("export", "--out", path); status != exitFailed || !strings.Contains(errOut, "exists") {
		t.Errorf("over a file: %d %s", status, errOut)
	}
	if status, _, _ := do("pause", "advertiser", "1"); status != exitDone {
		t.Fatal(status)
	}
	sheet := filepath.Join(t.TempDir(), "ads.csv")
	if status, out, errOut := do("export", "--format", "editor", "--out", sheet); status != exitFailed || out != "" || !strings.Contains(errOut, "is paused") {
		t.Errorf("of a paused advertiser: %d %q %q", status, out, errOut)
	}
	for _, name := range []string{sheet, sheet + ".part"} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s is left", name)
		}
	}
	if status, _, _ := do("resume", "advertiser", "1"); status != exitDone {
		t.Fatal(status)
	}
	before, err = db.DB.Newest(t.Context())
	db.Must(err)
	if status, out, errOut := do("export", "--format", "editor", "--out", sheet, "--json"); status != exitDone || out != "{\"rows\":9}\n" || errOut != "" {
		t.Errorf("for Editor: %d %q %q", status, out, errOut)
	}
	if sum, err := ingest.Run(t.Context(), db.DB, []string{sheet}, ingest.Options{}); err != nil || sum.Rows != 9 || sum.Rejected != 0 || sum.ClockAfter != before.Clock {
		t.Errorf("for Editor: %+v, %v", sum, err)
	}
	lost.Store(1)
	if status, _, _ := do("export", "--out", path+"2"); status != exitFailed {
		t.Errorf("cut off: %d", status)
	}
	if status, out, _ := do("export", "--format", "Editor"); status != exitDone || strings.Count(out, "\n") != 10 {
		t.Errorf("for Editor, to standard output: %d %s", status, out)
	}
	cut := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(bytes.Repeat([]byte(`{"type":"campaign","advertiser":"A","name":"C"}`+"\n"), 4_000))
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(cut.Close)
	for _, format := range []string{"jsonl", "editor"} {
		if status, _, errOut := run(t, "adshard", "export", "--format", format, "--out", path+"2", "--addr", cut.URL); status != exitFailed || !strings.Contains(errOut, "cut off") {
			t.Errorf("cut off: %d %s", status, errOut)
		}
	}
	for _, name := range []string{path + "2", path + "2.part"} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s is left", name)
		}
	}
}
