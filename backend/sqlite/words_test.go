package sqlite

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"adshard/backend"
	"adshard/backend/backendtest"
)

const rekeyEnv = "ADSHARD_TEST_REKEY"

// wordsFile is a database file.
type wordsFile string

func (p wordsFile) Open(t testing.TB, busy time.Duration) backend.Store {
	t.Helper()
	s, err := Open(t.Context(), string(p), Options{Create: true, BusyTimeout: busy})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (p wordsFile) Copy(testing.TB) backendtest.Place { panic("not copied") }

func TestWords(t *testing.T) { backendtest.Words(t, wordsPlace) }

// TestWordsKilled kills programs that rebuild keys.
func TestWordsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it spends its time in other processes")
	}
	backendtest.WordsKilled(t, wordsPlace, func(p backendtest.WordsPlace) *exec.Cmd {
		c := exec.CommandContext(t.Context(), os.Args[0])
		c.Env = append(os.Environ(), rekeyEnv+"="+string(p.Place.(wordsFile)))
		c.Stderr = os.Stderr
		return c
	})
}

func wordsPlace(t testing.TB) backendtest.WordsPlace {
	path := filepath.Join(t.TempDir(), "ads.db")
	return backendtest.WordsPlace{
		Place:     wordsFile(path),
		Script:    func(sql string) error { return Script(t, path, sql) },
		Name:      func(version string) string { return "UPDATE state SET words = '" + version + "'" },
		OldWriter: "UPDATE state SET since = 1",
		Reopen: func(ctx context.Context, step func()) (backend.Worded, error) {
			s, err := Open(ctx, path, Options{stepped: step})
			if err != nil {
				return nil, err
			}
			return s, nil
		},
	}
}

// TestWordsThatNoProgramNoted: a database that was filled with plain SQL, without a version of words, gets one.
func TestWordsThatNoProgramNoted(t *testing.T) {
	path := byHand(t, "INSERT INTO keyword (group_id, words, type, text) VALUES (1, 'men s', 2, 'men''s')")
	s := opened(t, path)
	n, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	items, err := n.Items(t.Context(), []uint64{1})
	if err != nil || len(items) != 1 || items[0].Keywords[len(items[0].Keywords)-1].Words != "men's" {
		t.Errorf("%+v, %v", items, err)
	}
	if err := whole(t.Context(), s); err != nil {
		t.Error(err)
	}
}
