package cli

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adshard/events/store"
	"adshard/events/token"
	"adshard/internal/node/database"
	"adshard/scorer"
)

// trainable returns a database of 120 keywords, every second of which is broad.
func trainable(t *testing.T) (db string) {
	t.Helper()
	var csv strings.Builder
	csv.WriteString("Account,Campaign,Ad Group,Keyword,Criterion Type,Max CPC\n")
	for n := range 120 {
		fmt.Fprintf(&csv, "Acme,Shoes,G%d,shoes %d,%s,1\n", n/10, n, []string{"Exact", "Broad"}[n%2])
	}
	db = "sqlite:" + filepath.Join(t.TempDir(), "ads.db")
	if status, _, errOut := run(t, "adshard", "import", "--db", db, file(t, "data.csv", csv.String())); status != exitDone {
		t.Fatal(errOut)
	}
	return db
}

// trainCSV returns counts with the given clicks for 1000 impressions on desktops and on mobile phones; they differ a
// little by keyword.
func trainCSV(desktop, mobile int) string {
	var b strings.Builder
	b.WriteString("day,campaign,group,keyword,ad,position,impressions,clicks,device\n")
	for n := range 120 {
		fmt.Fprintf(&b, "2026-11-23,1,1,%d,1,1,1000,%d,desktop\n2026-11-23,1,1,%d,1,1,1000,%d,mobile\n", n+1, (desktop+n%5)*(10-n%2*2)/10, n+1, (mobile+n%5)*(10-n%2*2)/10)
	}
	return b.String()
}

// TestQualityTrain: a model trained from files is written and names its data, and a second run writes the same file. Without --out
// it is only compared.
func TestQualityTrain(t *testing.T) {
	db, path := trainable(t), filepath.Join(t.TempDir(), "model.json")
	train := func(more ...string) (int, string, string) {
		return runIn(t, trainCSV(60, 30), "adshard", append([]string{"quality", "train", "--db", db, "-"}, more...)...)
	}
	status, out, errOut := train()
	if status != exitDone || !strings.Contains(out, " weights of match, words, quality, advertiser, campaign, device, weekday; mean factor 1000; positions") ||
		!strings.Contains(out, "CALIBRATION") || strings.Contains(out, "use it with") {
		t.Fatalf("%d\n%s%s", status, out, errOut)
	}
	var texts []string
	for range 2 {
		status, out, errOut = train("--features", "device", "--out", path)
		text, err := os.ReadFile(path)
		if err != nil || status != exitDone {
			t.Fatalf("%d %v\n%s%s", status, err, out, errOut)
		}
		m, err := scorer.Parse(text)
		if err != nil || !strings.Contains(out, path+": model "+m.ID().String()+`; use it with "adshard up --scorer `+path+`"`) {
			t.Errorf("%v: %s", err, out)
		}
		texts = append(texts, string(text))
	}
	if texts[0] != texts[1] || !strings.Contains(texts[0], `{"format":1,"about":"adshard quality train `) || !strings.Contains(texts[0], `"weights":{"device":{"desktop":`) {
		t.Errorf("%s\n%s", texts[0], texts[1])
	}
	if status, _, errOut = run(t, "adshard", "up", "--db", db, "--scorer", path, "--check-config"); status != exitDone {
		t.Errorf("%d %s", status, errOut)
	}
	status, out, _ = train("--json")
	var object struct {
		Out   string
		Model string
		Gain  float64
		Held  struct{ Keywords int } `json:"held_out"`
	}
	if err := json.Unmarshal([]byte(out), &object); err != nil || status != exitDone || object.Out != "" || object.Gain <= 0 || object.Held.Keywords < 10 || object.Model == "" {
		t.Errorf("%d %v %s", status, err, out)
	}
}

// TestQualityTrainNoBetter: a model that is not better than none is not written, and the comparison is printed.
func TestQualityTrainNoBetter(t *testing.T) {
	db, path := trainable(t), filepath.Join(t.TempDir(), "model.json")
	status, out, errOut := runIn(t, trainCSV(50, 50), "adshard", "quality", "train", "--db", db, "--features", "device", "--out", path, "-")
	if _, err := os.Stat(path); status != exitFailed || err == nil || !strings.Contains(errOut, "the model is not better than none") || !strings.Contains(out, "CALIBRATION") || strings.Contains(out, path) {
		t.Errorf("%d %v\n%s%s", status, err, out, errOut)
	}
}

// TestQualityTrainRejects: wrong rows are named, and the model is trained from the others.
func TestQualityTrainRejects(t *testing.T) {
	wrong := "2026-11-23,1,1,1,1,1,1000,60,phone\n2026-11-23,1,1,1,2,1,1,2,mobile\n"
	status, out, errOut := runIn(t, trainCSV(60, 30)+wrong, "adshard", "quality", "train", "--db", trainable(t), "-")
	if status != exitRejects || !strings.Contains(errOut, `row 242, device: "phone" is not a device`) || !strings.Contains(errOut, "refused: ad 2 of keyword 1 in position 1") || !strings.Contains(out, "CALIBRATION") {
		t.Errorf("%d\n%s%s", status, out, errOut)
	}
	for args, says := range map[string]string{
		"--strength 0 -": "strength", "--features bid -": "not a feature", "--since x -": "--since", "--events sqlite:x -": "--events", "--features hour -": "hour",
	} {
		status, _, errOut := runIn(t, trainCSV(60, 30), "adshard", append([]string{"quality", "train", "--db", trainable(t)}, strings.Fields(args)...)...)
		if status == exitDone || !strings.Contains(errOut, says) {
			t.Errorf("%s: %d %s", args, status, errOut)
		}
	}
}

// TestQualityTrainCollected: without files a model is trained from the collectors' counts, of single and folded
// events.
func TestQualityTrainCollected(t *testing.T) {
	db := trainable(t)
	if status, _, errOut := run(t, "adshard", "quality", "train", "--db", db); status == exitDone || !strings.Contains(errOut, "no events") {
		t.Errorf("%d %s", status, errOut)
	}
	s, err := database.OpenEvents(t.Context(), db+"-events")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	served, made := time.Unix(1_700_000_000, 0), uint64(0)
	for keyword := uint64(1); keyword <= 120; keyword++ {
		var list []store.Event
		add := func(kind store.Kind, n int) {
			for range n {
				made++
				e := store.Event{ID: token.From(served.Add(time.Duration(made/100) * time.Second)), Kind: kind, Day: 19675,
					Token: token.Token{Advertiser: 1, Campaign: 1, Keyword: keyword, Ad: 1, Position: 1}}
				binary.BigEndian.PutUint64(e.ID[4:], made)
				list = append(list, e)
			}
		}
		add(store.Impression, 40)
		add(store.Click, []int{2, 16}[keyword%2]) // odd ids are exact keywords
		if _, err := s.Add(t.Context(), list); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Forget(t.Context(), served.Add(30*time.Second), 10_000); err != nil {
		t.Fatal(err)
	}
	status, out, errOut := run(t, "adshard", "quality", "train", "--db", db, "--features", "match")
	if status != exitDone || !strings.Contains(out, "2 weights of match") || !strings.Contains(out, "trained on ") || !strings.Contains(out, "0 keywords were counted that the database does not have") {
		t.Errorf("%d\n%s%s", status, out, errOut)
	}
	if status, _, errOut := run(t, "adshard", "quality", "train", "--db", db, "--since", "2023-11-15"); status != exitFailed || !strings.Contains(errOut, "0 impressions") {
		t.Errorf("%d %s", status, errOut)
	}
}
