package database_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/backend"
	"adshard/backend/sqlite"
	"adshard/internal/node/database"
)

// TestARestoreInTwoHalves: a restore puts the database in place before its events. If it ends in between, nothing that it leaves
// can be opened, and it can be repeated.
func TestARestoreInTwoHalves(t *testing.T) {
	dir := backup(t)
	path := filepath.Join(t.TempDir(), "ads.db")
	blocked := path + "-events"
	if err := os.MkdirAll(filepath.Join(blocked+"-wal", "in the way"), 0o700); err != nil { // events cannot be moved away
		t.Fatal(err)
	}
	if _, err := database.Restore(t.Context(), dir, path, blocked, true, nil); err == nil {
		t.Fatal("the events are in place")
	}
	_, err := database.Open(t.Context(), "sqlite:"+path, false)
	var half *backend.Unfinished
	if !errors.As(err, &half) || !strings.Contains(err.Error(), "--replace") {
		t.Errorf("with its database alone in place: %v", err)
	}
	if err := os.RemoveAll(blocked + "-wal"); err != nil {
		t.Fatal(err)
	}
	if _, err := database.Restore(t.Context(), dir, path, blocked, true, nil); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if report, err := s.Check(t.Context(), nil); err != nil || len(report.Damage) > 0 {
		t.Errorf("restored: %v %v", report, err)
	}
}

// TestImportsOfTheSame: an import is recognized as the same one from any directory if it has the same files in the same order, for
// the same advertiser.
func TestImportsOfTheSame(t *testing.T) {
	here, err := filepath.Abs("a.csv")
	if err != nil {
		t.Fatal(err)
	}
	first := database.Import("sqlite:ads.db", []string{"a.csv", "b.csv"}, "")
	for _, c := range []struct {
		files      []string
		advertiser string
		same       bool
	}{
		{[]string{here, "b.csv"}, "", true},
		{[]string{"a.csv"}, "", false},
		{[]string{"b.csv", "a.csv"}, "", false},
		{[]string{"a.csv", "b.csv"}, "Acme", false},
		{[]string{here + ", " + strings.TrimSuffix(here, "a.csv") + "b.csv"}, "", false},
		{[]string{"-"}, "", false},
	} {
		if m := database.Import("sqlite:ads.db", c.files, c.advertiser); m.Same(first) != c.same {
			t.Errorf("%v for %q: %q, the first was %q", c.files, c.advertiser, m.Of, first.Of)
		}
	}
	many := make([]string, 1000)
	for i := range many {
		many[i] = "\xff file"
	}
	if m := database.Import("", many, ""); len(m.Of) > 1200 || m.Same(database.Import("", many[1:], "")) {
		t.Errorf("%d bytes: %q", len(m.Of), m.Of)
	}
	if m := database.Migration(""); m.Same(database.Migration("")) {
		t.Error("a migration is completed by another one")
	}
}
