package balancer

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"adshard/backend"
)

// answering is a database on a server, which may change from call to call.
type answering struct {
	backend.Store
	is  backend.Server
	err error
}

func (a *answering) Server(context.Context) (backend.Server, error) { return a.is, a.err }

// TestTheServerIsLogged: the server is logged when it is first seen, and when it changes. An old
// primary is logged as an error.
func TestTheServerIsLogged(t *testing.T) {
	var shown bytes.Buffer
	db := &answering{}
	s := &serverLog{db: db, log: slog.New(slog.NewTextHandler(&shown, nil))}
	now := time.Now()
	for _, step := range []struct {
		is   backend.Server
		err  error
		says string // "" for nothing
	}{
		{backend.Server{}, nil, ""},
		{backend.Server{System: "7", Timeline: 1}, errors.New("away"), ""},
		{backend.Server{System: "7", Timeline: 1}, nil, "level=INFO"},
		{backend.Server{System: "7", Timeline: 1}, nil, ""},
		{backend.Server{}, nil, ""},
		{backend.Server{System: "7", Timeline: 2}, nil, "level=WARN"},
		{backend.Server{System: "7", Timeline: 1}, nil, "level=ERROR"},
		{backend.Server{System: "7", Timeline: 1}, nil, ""},
		{backend.Server{System: "7", Timeline: 2}, nil, "level=WARN"},
		{backend.Server{System: "7", Timeline: 1}, nil, "level=ERROR"},
		{backend.Server{System: "8", Timeline: 1}, nil, "level=WARN"},
	} {
		shown.Reset()
		db.is, db.err = step.is, step.err
		s.look(t.Context(), now)
		if got := shown.String(); (got == "") != (step.says == "") || !strings.Contains(got, step.says) {
			t.Errorf("%+v, %v: %q, want %q", step.is, step.err, got, step.says)
		}
	}
	db.is = backend.Server{System: "8", Timeline: 3}
	s.look(t.Context(), now)
	db.is.Timeline = 2
	for after, says := range []bool{true, false, false, true} {
		shown.Reset()
		if s.look(t.Context(), now.Add(time.Duration(after)*serverAgain/3)); strings.Contains(shown.String(), "level=ERROR") != says {
			t.Errorf("an old primary at look %d: %q", after, shown.String())
		}
	}
}
