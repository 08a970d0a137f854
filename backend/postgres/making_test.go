package postgres_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"adshard/backend"
	"adshard/backend/backendtest"
	"adshard/backend/postgres"
	"adshard/backend/sqlite"
	"adshard/backend/transfer"
	"adshard/fault"
)

var (
	making = backend.Making{By: "import", Of: "a.csv", Do: "run it again", Shared: true}
	beside = backend.Making{By: "import", Of: "b.csv", Do: "run that again", Shared: true}
	copies = backend.Making{By: "db migrate", Of: "1", Do: "drop the schema"}
)

// empty creates a database without a schema, which is dropped with the server.
func empty(t *testing.T) (url string) {
	t.Helper()
	name := newName()
	do(t, "postgres", "CREATE DATABASE "+name)
	return shared.URL(name)
}

func opening(t *testing.T, url string, o postgres.Options) error {
	t.Helper()
	s, err := postgres.Open(t.Context(), url, o)
	if err == nil {
		err = s.Close()
	}
	return err
}

// refused checks that all programs except those that make the database are refused, with an error that says what to
// do.
func refused(t *testing.T, url string, m backend.Making, when string) {
	t.Helper()
	for who, o := range map[string]postgres.Options{
		"open": {}, "create": {Create: true}, "make another": {Create: true, Making: backend.Making{By: "another"}},
		"make it again": {Create: true, Making: backend.Making{By: m.By, Of: "another"}},
	} {
		err := opening(t, url, o)
		var part *backend.Unfinished
		if !errors.As(err, &part) || !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), m.Do) {
			t.Errorf("%s, %s: %v", when, who, err)
		}
	}
}

// stepping is a store that calls step after each commit.
type stepping struct {
	backend.Store
	step func()
}

type steppingTx struct {
	backend.Tx
	s *stepping
}

func (s *stepping) Begin(ctx context.Context) (backend.Tx, error) {
	tx, err := s.Store.Begin(ctx)
	return &steppingTx{tx, s}, err
}

func (t *steppingTx) Commit(ctx context.Context) error {
	err := t.Tx.Commit(ctx)
	t.s.step()
	return err
}

func (s *stepping) SetBudget(ctx context.Context, id uint64, m backend.BudgetMark) error {
	err := s.Store.SetBudget(ctx, id, m)
	s.step()
	return err
}

// TestAPartIsNoDatabase: at each moment of a migration the schema is refused, as it would be after a kill at that
// moment. At the end it is complete.
func TestAPartIsNoDatabase(t *testing.T) {
	source, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "ads.db"), sqlite.Options{Create: true})
	must(t, err)
	defer source.Close()
	backendtest.Fill(t, source, 600)
	must(t, source.SetBudget(t.Context(), 1, backend.BudgetMark{Exhausted: true}))
	url, steps := empty(t), 0
	step := func() { steps++; refused(t, url, copies, "migrating") }
	o := postgres.Options{Create: true, Making: copies}
	o.Stepped(step)
	target, err := postgres.Open(t.Context(), url, o)
	must(t, err)
	defer target.Close()
	want, err := transfer.Copy(t.Context(), source, &stepping{target, step}, copies, nil)
	must(t, err)
	if steps < 1+1+1+1 { // the note, the schema, a transaction, a budget mark
		t.Errorf("%d steps", steps)
	}
	other, err := postgres.Open(t.Context(), url, postgres.Options{})
	must(t, err)
	defer other.Close()
	if n, err := other.Counts(t.Context()); err != nil || n != want || n.Groups == 0 {
		t.Errorf("%v %v, want %v", n, err, want)
	}
}

// TestCompletedAfterAKill: after a kill at any step of making a schema, the same command completes it. Another
// command of its kind completes only its own part.
func TestCompletedAfterAKill(t *testing.T) {
	for n := 0; ; n++ {
		url, left := empty(t), n
		ctx, kill := context.WithCancel(t.Context())
		o := postgres.Options{Create: true, Making: making}
		o.Stepped(func() {
			if left--; left < 0 {
				kill()
			}
		})
		s, err := postgres.Open(ctx, url, o)
		if err == nil {
			err = s.Close()
		}
		done := ctx.Err() == nil
		kill()
		if done {
			must(t, err)
		}
		refused(t, url, making, "killed")
		for _, m := range []backend.Making{beside, making} {
			s, err := postgres.Open(t.Context(), url, postgres.Options{Create: true, Making: m})
			must(t, err)
			must(t, errors.Join(s.Finish(t.Context(), m), s.Close()))
			if err := opening(t, url, postgres.Options{}); (err == nil) != (m.Of == making.Of) {
				t.Errorf("after %d steps, completed by %s: %v", n, m.Of, err)
			}
		}
		if done {
			return
		}
	}
}

// TestAWholeDatabaseIsNotMade: a program that would create a missing schema changes an existing one like any other
// program, until it declares that it is making it. Programs that have the database open notice that.
func TestAWholeDatabaseIsNotMade(t *testing.T) {
	p := newPlace(t)
	server, url := open(t, p), shared.URL(p.(place).name)
	must(t, opening(t, url, postgres.Options{Create: true, Making: copies}))
	must(t, opening(t, url, postgres.Options{}))
	maker, err := postgres.Open(t.Context(), url, postgres.Options{Making: copies})
	must(t, err)
	defer maker.Close()
	must(t, maker.Mark(t.Context(), copies))
	if err := maker.Mark(t.Context(), making); !fault.Is(err, fault.Conflict) {
		t.Errorf("two make it: %v", err)
	}
	refused(t, url, copies, "marked")
	if err := server.Health(t.Context()); err == nil || !strings.Contains(err.Error(), copies.Do) {
		t.Errorf("health: %v", err)
	}
	must(t, maker.Health(t.Context()))
	must(t, maker.Finish(t.Context(), copies))
	must(t, server.Health(t.Context()))
}

// TestRolesLearnThatItIsUnfinished: the roles of adshard db roles may read no more than before, and their errors say why
// they are refused.
func TestRolesLearnThatItIsUnfinished(t *testing.T) {
	p := newPlace(t)
	url := shared.URL(p.(place).name)
	s := open(t, p)
	do(t, p.(place).name, postgres.Roles)
	do(t, p.(place).name, "DO $$ BEGIN IF to_regrole('importer') IS NULL THEN CREATE ROLE importer LOGIN; END IF; END $$; GRANT adshard_import TO importer")
	as := strings.Replace(url, "user=postgres", "user=importer", 1)
	must(t, opening(t, as, postgres.Options{}))
	must(t, s.Mark(t.Context(), copies))
	refused(t, as, copies, "as a role")
	must(t, s.Finish(t.Context(), copies))
	must(t, opening(t, as, postgres.Options{}))
}
