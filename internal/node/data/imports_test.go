package data

import (
	"log/slog"
	"strings"
	"testing"

	"adshard/fault"
	"adshard/internal/node/nodetest"
)

// TestLargeAccounts: a file is compared with so many entities of its advertisers, and with the names of others,
// and no more; with none of what others have.
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
