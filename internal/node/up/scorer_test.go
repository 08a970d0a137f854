package up

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/auction"
	"adshard/internal/oracle"
	"adshard/quality"
	"adshard/quality/countfile"
	"adshard/quality/train"
	"adshard/scorer"
	"adshard/search"
)

// TestScorer: with a model's file the answers of a cluster are scored by it and name it, over both ways to ask slaves, and explanations
// say what made the factor.
func TestScorer(t *testing.T) {
	model := `{"format":1,"weights":{"advertiser":{"2":-512},"match":{"broad":1,"phrase":1,"exact":1}}}`
	path := filepath.Join(t.TempDir(), "model.json")
	if err := os.WriteFile(path, []byte(model), 0o600); err != nil {
		t.Fatal(err)
	}
	id := oracle.ReadModel([]byte(model)).ID.String()
	for _, transport := range []string{TransportDirect, TransportStream} {
		t.Run(transport, func(t *testing.T) {
			cfg := upConfig(t, adsDB(t, 2))
			cfg.Slaves, cfg.Transport, cfg.Scorer = 2, transport, path
			c := startUp(t, cfg)
			if got := c.advertisers(t, "/v1/search?q=usb+cable"); got != "advertiser 0, advertiser 1" { // without a scorer it is the reverse
				t.Error(got)
			}
			for path, want := range map[string][]string{
				"/v1/search?q=usb+cable": {`"scorer":"` + id + `"`, `"complete":true`},
				"/v1/explain?q=usb+cable": {
					`"scorer":"` + id + `"`, `"factor_permille":239`, `{"feature":"advertiser","value":"2","weight":-512}`, `"complete":true`,
				},
			} {
				body := strings.Join(strings.Fields(c.get(t, path)), "")
				for _, part := range want {
					if !strings.Contains(body, part) {
						t.Errorf("%s: no %s in %s", path, part, body)
					}
				}
			}
		})
	}
}

// TestTrainedScorer: a model that was trained from counts scores in a cluster as its file says.
func TestTrainedScorer(t *testing.T) {
	set := new(train.Set)
	of := func(keyword uint64) auction.Features {
		return auction.Features{Match: uint8(search.Broad), Words: 2, Quality: 5, Advertiser: 1 + keyword%2, Campaign: 1 + keyword%2}
	}
	for keyword := range uint64(200) {
		clicks := []uint64{40, 60}[keyword%2] + keyword/2%5
		for device := range uint8(2) {
			r := train.Row{Keyword: 1 + keyword, Position: 1, Day: 20_000, Count: quality.Count{Impressions: 1000, Clicks: clicks + 10*uint64(device)},
				Request: auction.Situation{Device: device}, Says: countfile.Says{Device: true}}
			if err := set.Add(&r); err != nil {
				t.Fatal(err)
			}
		}
		set.Know(1+keyword, train.Keyword{Group: 1, Features: of(keyword)})
	}
	trained, err := train.Train(set, train.Options{Strength: train.DefaultStrength, By: "test"})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "model.json")
	if err := os.WriteFile(path, trained.File, 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := scorer.Parse(trained.File)
	if err != nil {
		t.Fatal(err)
	}
	cfg := upConfig(t, adsDB(t, 2))
	cfg.Slaves, cfg.Scorer = 2, path
	c := startUp(t, cfg)
	factors := make(map[uint64]bool)
	for device, name := range []string{"desktop", "mobile"} {
		var a struct {
			Matches []struct {
				Advertiser uint64 `json:"advertiser_id"`
				Scored     struct {
					Factor uint64 `json:"factor_permille"`
				}
			}
		}
		body := c.get(t, "/v1/explain?q=usb+cable&time=2026-11-22T10:00:00Z&device="+name)
		if err := json.Unmarshal([]byte(body), &a); err != nil || len(a.Matches) != 2 {
			t.Fatalf("%v: %s", err, body)
		}
		for _, match := range a.Matches {
			f := of(match.Advertiser - 1)
			at := auction.Situation{Device: uint8(device), Hour: 10, Words: 2}
			if want := m.For(&at).Factor(&f); match.Scored.Factor != want || match.Advertiser == 0 {
				t.Errorf("%s, advertiser %d: factor %d, want %d", name, match.Advertiser, match.Scored.Factor, want)
			}
			factors[match.Scored.Factor] = true
		}
	}
	if len(factors) != 4 {
		t.Errorf("factors are %v: %s", factors, trained.File)
	}
}

// get returns the body of an answer.
func (c *cluster) get(t *testing.T, path string) string {
	t.Helper()
	res, err := http.Get(c.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
