package up

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adshard/backend"
	"adshard/backend/sqlite"
	"adshard/fault"
	"adshard/search"
)

// TestUpInOtherLanguages: stores of other languages are not thrown away: the start is refused, with both lists. Once they are moved
// away, they are built again, and words of a new language match in other forms; where it is left out, they do not any more.
func TestUpInOtherLanguages(t *testing.T) {
	cfg := upConfig(t, germanDB(t))
	cfg.Slaves, cfg.Distributors, cfg.Transport = 1, 1, TransportStream
	before := ""
	for _, languages := range []string{"cs,en", "cs,de,en", "cs,en"} {
		if err := cfg.Languages.UnmarshalText([]byte(languages)); err != nil {
			t.Fatal(err)
		}
		if before != "" {
			err := Run(t.Context(), cfg, io.Discard, slog.New(slog.DiscardHandler))
			if !fault.Is(err, fault.Version) || !strings.Contains(err.Error(), "built with the languages "+before+", and `languages` is "+languages) {
				t.Fatalf("from %s to %s: %v", before, languages, err)
			}
			store := filepath.Join(cfg.Data, "slave-0")
			if err := os.Rename(store, store+".of-"+strings.ReplaceAll(before, ",", "-")+"-before-"+languages); err != nil {
				t.Fatal(err)
			}
		}
		before = languages
		c := startUp(t, cfg)
		c.matches(t, "blaue lampe", 1) // the keyword's own words match in any case
		want := uint64(0)
		if cfg.Languages.Has("de") {
			want = 1
		}
		c.matches(t, "blauen lampen", want)
		if err := c.stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// matches waits until a number of keywords match.
func (c *cluster) matches(t *testing.T, query string, n uint64) {
	t.Helper()
	var a searchAnswer
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if a = c.search(t, query); a.Coverage.Complete {
			break
		}
	}
	if !a.Coverage.Complete || a.Matched != n {
		t.Fatalf("%q: %+v, want %d matches", query, a, n)
	}
}

// germanDB makes a database with a keyword of a German campaign.
func germanDB(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ads.db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	campaign, group := uint64(0), uint64(0)
	advertiser, err := tx.Advertiser(t.Context(), "Leuchten")
	if err == nil {
		campaign, err = tx.Campaign(t.Context(), advertiser, "c", backend.CampaignPatch{Languages: backend.To(backend.LanguagesOf("de"))})
	}
	if err == nil {
		group, err = tx.Group(t.Context(), campaign, "g", backend.GroupPatch{Bid: backend.To(uint64(1_000_000))})
	}
	if err == nil {
		err = tx.Keyword(t.Context(), group, backend.KeywordPatch{Text: "blaue Lampe", Words: "blaue lampe", Type: search.Broad})
	}
	if err == nil {
		err = tx.Ad(t.Context(), group, backend.AdPatch{Headlines: []string{"h"}, Descriptions: []string{"d"}, FinalURL: "https://a.example/"})
	}
	if err == nil {
		err = tx.Commit(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return "sqlite:" + path
}
