package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/backend"
	"adshard/search"
)

// stock writes data of all kinds; if called again, it changes nothing.
func stock(ctx context.Context, s *Store, bid uint64) error {
	tx, err := s.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for i := range 24 {
		a, err := tx.Advertiser(ctx, fmt.Sprint("Advertiser ", i/12))
		if err != nil {
			return err
		}
		c, err := tx.Campaign(ctx, a, fmt.Sprint("Campaign ", i/4), backend.CampaignPatch{
			Languages: backend.To(backend.LanguagesOf("cs", "en")), DailyBudget: backend.To(uint64(50_000_000 + i/4)),
			Modifiers: [search.Devices]backend.Patch[uint16]{1: backend.To[uint16](1200)},
		})
		if err != nil {
			return err
		}
		g, err := tx.Group(ctx, c, fmt.Sprint("Group ", i), backend.GroupPatch{Bid: backend.To(bid)})
		if err != nil {
			return err
		}
		for k := range 9 {
			words := fmt.Sprintf("usb cable %d metres model %d", k, i)
			err := tx.Keyword(ctx, g, backend.KeywordPatch{Text: strings.ToUpper(words), Words: words, Type: search.MatchType(k % 3), Bid: backend.To(bid + uint64(k))})
			if err != nil {
				return err
			}
		}
		err = tx.Negative(ctx, backend.NegativeOwner{Group: g}, backend.NegativePatch{Text: "free", Words: "free", Type: search.Broad})
		if err == nil {
			err = tx.Negative(ctx, backend.NegativeOwner{Campaign: c}, backend.NegativePatch{Text: "used", Words: "used", Type: search.Phrase})
		}
		if err == nil {
			err = tx.Ad(ctx, g, backend.AdPatch{
				Headlines: []string{"Cables", "\"Fast\" delivery", fmt.Sprint("Model ", i)}, Descriptions: []string{"Buy a cable today."},
				Path1: "cables", FinalURL: fmt.Sprint("https://shop.example/cable/", i),
			})
		}
		if err != nil {
			return err
		}
	}
	return tx.Commit(ctx)
}

// stocked creates a database in one file, written by this program and another, with its log partly compacted.
func stocked(t testing.TB) []byte {
	t.Helper()
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "ads.db")
	s := opened(t, path)
	for _, err := range []error{
		stock(ctx, s, 1_000_000), s.SaveControl(ctx, "model", []byte(strings.Repeat("slices ", 50))),
		s.SetBudget(ctx, 2, backend.BudgetMark{Exhausted: true, Share: backend.To[uint32](300_000)}),
		Script(t, path, "UPDATE keyword SET bid = 5 WHERE group_id = 3; DELETE FROM ad WHERE group_id = 5; UPDATE campaign SET name = 'Other' WHERE id = 3"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Compact(ctx, 20, 0); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// readable returns all data of a database as text, except for marks, which differ every time.
func readable(ctx context.Context, s *Store) (text string, err error) {
	var b strings.Builder
	add := func(v any) {
		line, e := json.Marshal(v)
		b.Write(append(line, '\n'))
		if err == nil {
			err = e
		}
	}
	id, err := s.ID(ctx)
	if err != nil {
		return "", err
	}
	add(id)
	model, err := s.LoadControl(ctx, "model")
	if err != nil {
		return "", err
	}
	add(model)
	changes, err := s.Changes(ctx, backend.Position{Clock: 20}, 1<<20)
	if err != nil {
		return "", err
	}
	for _, c := range changes {
		c.Mark = 0
		add(c)
	}
	n, err := s.Snapshot(ctx)
	if err != nil {
		return "", err
	}
	defer n.Close()
	add(n.Position().Clock)
	for g, err := range n.Groups(ctx) {
		if err != nil {
			return "", err
		}
		add(g)
	}
	advertisers, err := n.Advertisers(ctx, nil)
	if err != nil {
		return "", err
	}
	add(advertisers)
	campaigns, err := n.Campaigns(ctx, nil)
	if err != nil {
		return "", err
	}
	add(campaigns)
	for it, err := range n.All(ctx) {
		if err != nil {
			return "", err
		}
		add(it)
	}
	for id := range uint64(30) { // one by one, as they are sent to slaves
		items, err := n.Items(ctx, []uint64{id})
		if err != nil {
			return "", err
		}
		add(items)
		campaigns, err := n.Campaigns(ctx, []uint64{id})
		if err != nil {
			return "", err
		}
		add(campaigns)
	}
	return b.String(), err
}

// outcome is the result of using a database with a flipped bit.
type outcome uint8

const (
	harmless outcome = iota
	refused          // by the program that read or opened it
	checked          // read without an error, reported by Check
	silent
)

// flip opens content with one bit flipped, calls use with it, and compares what is read then with want.
func flip(t testing.TB, content []byte, bit int, want string, use func(context.Context, *Store) error) outcome {
	t.Helper()
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "ads.db")
	flipped := append([]byte(nil), content...)
	flipped[bit/8] ^= 1 << (bit % 8)
	if err := os.WriteFile(path, flipped, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(ctx, path, Options{Readers: 1})
	if err != nil {
		return refused
	}
	defer s.Close()
	if err := use(ctx, s); err != nil {
		return refused
	}
	got, err := readable(ctx, s)
	switch {
	case err != nil:
		return refused
	case got == want:
		return harmless
	}
	if report, err := s.Check(ctx, nil); err != nil || len(report.Damage) > 0 {
		return checked
	}
	t.Logf("bit %d, page %d, byte %d of it", bit, bit/8/4096+1, bit/8%4096)
	return silent
}

// sequencePage returns the number of the page with SQLite's table of next ids.
func sequencePage(t testing.TB, content []byte) int {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ads.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := connect(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	page, err := c.number("SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_sequence'")
	if err != nil {
		t.Fatal(err)
	}
	return int(page)
}

// TestFlippedBits flips bits all over the file, one at a time. A reader gets the same data as before, or an error, or
// a check finds the damage. Only the next ids are left out: if they are too high, ids are skipped
// (TestClockBehindTheLog tests the next clock).
func TestFlippedBits(t *testing.T) {
	if testing.Short() {
		t.Skip("short: one goroutine at a time, which no race detector need watch")
	}
	content := stocked(t)
	sequences := sequencePage(t, content)
	const flips = 100 // for each use
	for name, use := range map[string]func(context.Context, *Store) error{
		"read":             func(context.Context, *Store) error { return nil },
		"imported again":   func(ctx context.Context, s *Store) error { return stock(ctx, s, 1_000_000) },
		"imported changed": func(ctx context.Context, s *Store) error { return stock(ctx, s, 2_000_000) },
		"marked and noted": func(ctx context.Context, s *Store) error {
			return s.SetBudget(ctx, 1, backend.BudgetMark{Exhausted: true})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "whole.db")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			s := opened(t, path)
			if err := use(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			want, err := readable(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if report, err := s.Check(t.Context(), nil); err != nil || len(report.Damage) > 0 {
				t.Fatalf("%v, %v", report, err)
			}
			var outcomes [4]int
			for n := 0; n < flips; {
				if bit := rand.IntN(8 * len(content)); bit/8/4096+1 != sequences {
					outcomes[flip(t, content, bit, want, use)]++
					n++
				}
			}
			t.Logf("harmless %d, refused %d, found by check alone %d", outcomes[harmless], outcomes[refused], outcomes[checked])
			if outcomes[silent] > 0 {
				t.Errorf("%d of %d flipped bits changed what is read without a word", outcomes[silent], flips)
			}
		})
	}
}
