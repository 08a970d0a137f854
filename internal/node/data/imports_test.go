package data

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"adshard/fault"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/nodetest"
)

// TestLargeAccounts: a file is compared with a limited number of entities of its own advertisers and with the names of other
// advertisers, but with none of their entities.
func TestLargeAccounts(t *testing.T) {
	d := nodetest.NewDatabase(t)
	s := New(d.DB, nil, slog.New(slog.DiscardHandler))
	const before = `{"type":"keyword","advertiser":"Acme","campaign":"Cables","group":"USB","text":"usb cable","match_type":"broad"}
{"type":"keyword","advertiser":"Acme","campaign":"Cables","group":"USB","text":"usb hub","match_type":"broad"}
{"type":"campaign","advertiser":"Other","name":"Cables"}
`
	_, err := s.Import(t.Context(), &Import{File: []byte(before)})
	d.Must(err)
	file := &Import{File: []byte("Account,Campaign\nAcme,New\n"), DryRun: true}
	for most, fits := range map[int]bool{6: true, 5: false} { // Acme, Cables, USB, two keywords; Other
		s.copied = most
		a, err := s.Import(t.Context(), file)
		switch {
		case fits && (err != nil || a.Different != 1):
			t.Errorf("%d entities: %+v %v", most, a, err)
		case !fits && (fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "more than 5 entities")):
			t.Errorf("%d entities: %v", most, err)
		}
	}
}

// TestConflictsOfADryRun: a dry run takes into account what the file's advertisers already have. Both a negative in the file
// and an existing one can block keywords. Conflicts of other advertisers are not reported.
func TestConflictsOfADryRun(t *testing.T) {
	d := nodetest.NewDatabase(t)
	s := New(d.DB, nil, slog.New(slog.DiscardHandler))
	const before = `{"type":"keyword","advertiser":"Acme","campaign":"Cables","group":"USB","text":"usb cable","match_type":"broad"}
{"type":"keyword","advertiser":"Acme","campaign":"Cables","group":"USB","text":"usb hub","match_type":"exact"}
{"type":"negative","advertiser":"Acme","campaign":"Cables","text":"hub","match_type":"phrase"}
{"type":"keyword","advertiser":"Other","campaign":"Cables","group":"USB","text":"free cable","match_type":"broad"}
{"type":"negative","advertiser":"Other","campaign":"Cables","text":"free","match_type":"broad"}
{"type":"negative","advertiser":"Acme","text":"usb hub","match_type":"exact"}
{"type":"negative","advertiser":"Other","text":"usb","match_type":"broad"}
`
	_, err := s.Import(t.Context(), &Import{File: []byte(before)})
	d.Must(err)
	const file = `{"type":"negative","advertiser":"Acme","campaign":"Cables","group":"USB","text":"cable","match_type":"broad"}`
	a, err := s.Import(t.Context(), &Import{File: []byte(file), DryRun: true})
	d.Must(err)
	at := api.ImportConflict{Advertiser: "Acme", Campaign: "Cables", Group: "USB"}
	own, there, everywhere := at, at, at
	own.Negative, own.NegativeType, own.NegativeOf, own.Keyword, own.KeywordType = "cable", "broad", "group", "usb cable", "broad"
	there.Negative, there.NegativeType, there.NegativeOf, there.Keyword, there.KeywordType = "hub", "phrase", "campaign", "usb hub", "exact"
	everywhere.Negative, everywhere.NegativeType, everywhere.NegativeOf, everywhere.Keyword, everywhere.KeywordType = "usb hub", "exact", "advertiser", "usb hub", "exact"
	if want := []api.ImportConflict{own, there, everywhere}; !slices.Equal(a.Conflicts, want) || a.Conflicting != 3 {
		t.Errorf("%d: %+v, want %+v", a.Conflicting, a.Conflicts, want)
	}
	if a, err = s.Import(t.Context(), &Import{File: []byte(file)}); err != nil || a.Conflicting != 0 {
		t.Errorf("of an import: %+v %v", a, err)
	}
}

// TestServedImports: an import with wait=served says whether all live slaves serve it, and the list says how soon. For other
// imports it contains the position only.
func TestServedImports(t *testing.T) {
	d := nodetest.NewDatabase(t)
	now := time.Unix(1_700_000_000, 0)
	var asked uint64
	var behind error
	s := New(d.DB, func(_ context.Context, clock uint64) error {
		asked, now = clock, now.Add(120*time.Millisecond)
		return behind
	}, slog.New(slog.DiscardHandler))
	s.now = func() time.Time { return now }
	file := func(name string) []byte { return []byte(`{"type":"advertiser","name":"` + name + `"}`) }
	for _, step := range []struct {
		im     Import
		behind error
		served string
	}{
		{Import{File: file("a")}, nil, "unasked"},
		{Import{File: file("b"), Wait: time.Second}, nil, "yes"},
		{Import{File: file("c"), Wait: time.Second}, fault.Newf(fault.Behind, "test", "slave-0"), "no"},
		{Import{File: file("d"), Wait: time.Second, DryRun: true}, nil, "unasked"},
	} {
		behind, asked = step.behind, 0
		a, err := s.Import(t.Context(), &step.im)
		d.Must(err)
		got := "unasked"
		if a.Served != nil {
			got = map[bool]string{true: "yes", false: "no"}[*a.Served]
		}
		if got != step.served || (asked != 0) != (got != "unasked") {
			t.Errorf("%s: served %s, clock %d; want %s", step.im.File, got, asked, step.served)
		}
	}
	list := s.Imports().Imports
	if len(list) != 3 || list[0].ServedMs != nil || list[2].ServedMs != nil || list[1].ServedMs == nil || *list[1].ServedMs != 120 {
		t.Fatalf("%+v", list)
	}
	for _, v := range list {
		if v.MinClock == "" || v.AgeMs > 1000 {
			t.Errorf("%+v", v)
		}
	}
}

// TestWaitingHoldsNobodyUp: while an import waits for the slaves, another one can be made. It is listed as the newer one.
func TestWaitingHoldsNobodyUp(t *testing.T) {
	d := nodetest.NewDatabase(t)
	waits, served := make(chan struct{}), make(chan struct{})
	s := New(d.DB, func(context.Context, uint64) error {
		close(waits)
		<-served
		return nil
	}, slog.New(slog.DiscardHandler))
	first := make(chan *api.ImportAnswer)
	go func() {
		a, err := s.Import(t.Context(), &Import{Name: "first", File: []byte(`{"type":"advertiser","name":"a"}`), Wait: time.Minute})
		if err != nil {
			t.Error(err)
		}
		first <- a
	}()
	<-waits
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for _, dry := range []bool{false, true} {
		if _, err := s.Import(ctx, &Import{File: []byte(`{"type":"advertiser","name":"b"}`), DryRun: dry}); err != nil {
			t.Error(err)
		}
	}
	close(served)
	if a := <-first; a == nil || a.Served == nil || !*a.Served {
		t.Errorf("%+v", a)
	}
	if list := s.Imports().Imports; len(list) != 2 || list[1].File != "first" {
		t.Errorf("%+v", list)
	}
}
