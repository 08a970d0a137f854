package postgres_test

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"adshard/backend"
	"adshard/backend/backendtest"
	"adshard/backend/postgres"
)

func TestWords(t *testing.T) { backendtest.Words(t, wordsPlace) }

// TestWordsKilled kills programs that rebuild keys.
func TestWordsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it spends its time in other processes")
	}
	backendtest.WordsKilled(t, wordsPlace, func(p backendtest.WordsPlace) *exec.Cmd {
		c := exec.CommandContext(t.Context(), os.Args[0])
		c.Env = append(os.Environ(), rekeyEnv+"="+shared.URL(p.Place.(place).name))
		c.Stderr = os.Stderr
		return c
	})
}

func wordsPlace(t testing.TB) backendtest.WordsPlace {
	p := newPlace(t).(place)
	return backendtest.WordsPlace{
		Place:     p,
		Script:    func(sql string) error { return shared.Do(context.Background(), p.name, sql) },
		Name:      func(version string) string { return "UPDATE adshard.state SET words = '" + version + "'" },
		OldWriter: "SELECT adshard.begin_write()",
		Reopen: func(ctx context.Context, step func()) (backend.Worded, error) {
			o := postgres.Options{}
			o.Stepped(step)
			s, err := postgres.Open(ctx, shared.URL(p.name), o)
			if err != nil {
				return nil, err
			}
			return s, nil
		},
	}
}
