package corpus

import (
	"bytes"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/backend/sqlite"
	"adshard/ingest"
	"adshard/targeting"
)

func targeted(t *testing.T, o Options) (text string, campaigns int) {
	t.Helper()
	var out bytes.Buffer
	n, err := open(t).WriteTargeting(t.Context(), &out, o)
	if err != nil || n != strings.Count(out.String(), "\n") {
		t.Fatalf("%d campaigns, %v", n, err)
	}
	return out.String(), n
}

// TestTargetingIsImported: an import accepts each line. The requested share of the campaigns has targeting, drawn from the given number
// of distinct profiles, and the same seed gives the same text.
func TestTargetingIsImported(t *testing.T) {
	o := Options{Keywords: 4000, Seed: 1, Encoding: UTF8, Targeted: 0.8, Profiles: 40}
	text, n := targeted(t, o)
	if again, _ := targeted(t, o); again != text {
		t.Error("the same seed gave other targeting")
	}
	distinct := map[string]bool{}
	for line := range strings.Lines(text) {
		_, says, _ := strings.Cut(line, `,"start_date"`)
		distinct[says] = true
	}
	editor, _ := write(t, open(t), o)
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "ads.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	dir := t.TempDir()
	files := []string{filepath.Join(dir, "ads.csv"), filepath.Join(dir, "targeting.jsonl")}
	for i, content := range []string{editor, text} {
		if err := os.WriteFile(files[i], []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if sum, err := ingest.Run(t.Context(), db, files, ingest.Options{}); err != nil || sum.Rejected != 0 {
		t.Fatalf("%v, %v", sum, err)
	}
	s, err := db.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	all, err := s.Campaigns(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	have := 0
	for _, c := range all {
		if says, err := c.Targeting(); err != nil {
			t.Fatal(err)
		} else if says.Start != 0 {
			have++
		}
	}
	if share := float64(have) / float64(len(all)); have != n || share < 0.7 || share > 0.9 || len(distinct) < 30 || len(distinct) > 40 {
		t.Errorf("%d of %d campaigns have targeting, %d lines, %d distinct", have, len(all), n, len(distinct))
	}
}

// TestProfilesAreDistinct: if there are more profiles than campaigns, no two campaigns share one.
func TestProfilesAreDistinct(t *testing.T) {
	text, n := targeted(t, Options{Keywords: 4000, Seed: 1, Targeted: 1, Profiles: 1_000_000})
	distinct := map[string]bool{}
	for line := range strings.Lines(text) {
		_, says, _ := strings.Cut(line, `,"start_date"`)
		distinct[says] = true
	}
	if len(distinct)*100 < n*95 {
		t.Errorf("%d distinct of %d", len(distinct), n)
	}
}

// TestContextsPass: most of the drawn contexts pass most of the profiles, with factors in every dimension except
// sites.
func TestContextsPass(t *testing.T) {
	o := Options{Seed: 1, Targeted: 1, Profiles: 200}
	passed, factors := 0, [4]int{}
	for n := range 100 {
		c := o.Context(n)
		at := &targeting.Context{Time: c.Time, Places: []targeting.Place{{ID: c.Location, Presence: true, Depth: 1}}, Languages: c.Languages,
			Audiences: c.Audiences, Site: &targeting.Page{Host: c.Site}}
		j := targeting.NewJudge(at)
		for p := range o.Profiles {
			of := o.profile(p)
			x := j.Group(targeting.Compile(compiled(t, of)), nil, &targeting.Owner{Zone: c.Time.Location()})
			if x.Verdict == targeting.Pass {
				passed++
			}
			for i, f := range x.Factors.All() {
				if f != targeting.Default {
					factors[i]++
				}
			}
		}
	}
	if passed < 85*o.Profiles || passed == 100*o.Profiles || factors[0] == 0 || factors[1] == 0 || factors[2] == 0 {
		t.Errorf("%d of %d pass, factors %v", passed, 100*o.Profiles, factors)
	}
}

func compiled(t *testing.T, of Targeting) *targeting.Targeting {
	t.Helper()
	out := new(targeting.Targeting)
	var errs [6]error
	out.Start, _ = targeting.ParseDate(of.StartDate)
	out.End, _ = targeting.ParseDate(of.EndDate)
	if of.Schedule != "" {
		out.Schedule, errs[2] = targeting.ParseSchedule([]byte(of.Schedule))
	}
	if of.Locations != "" {
		out.Locations, errs[3] = targeting.ParseLocations([]byte(of.Locations))
	}
	if of.Audiences != "" {
		out.Audiences, errs[4] = targeting.ParseAudiences([]byte(of.Audiences))
	}
	if of.Sites != "" {
		out.Sites, errs[5] = targeting.ParseSites([]byte(of.Sites))
	}
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestWriteContexts: a line has the parameters of a request.
func TestWriteContexts(t *testing.T) {
	var out bytes.Buffer
	if n, err := open(t).WriteContexts(&out, Options{Seed: 1, Queries: 10}); n != 10 || err != nil || strings.Count(out.String(), "\n") != 10 {
		t.Fatalf("%d, %v: %q", n, err, &out)
	}
	first, _, _ := strings.Cut(out.String(), "\n")
	v, err := url.ParseQuery(first)
	if err != nil || v.Get("location") == "" || !strings.HasPrefix(v.Get("time"), "2026-05-20T") || len(v["audience"]) != 20 || v.Get("site") == "" {
		t.Errorf("%v, %v", v, err)
	}
}
