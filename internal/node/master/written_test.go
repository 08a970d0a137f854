package master

import (
	"log/slog"
	"reflect"
	"testing"

	"adshard/internal/node/ports"
	"adshard/internal/node/searchapi"
)

// TestNothingIsWrittenDownUnasked: by default nothing is recorded, and recording costs nothing.
func TestNothingIsWrittenDownUnasked(t *testing.T) {
	port, err := ports.Open(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	m := &Master{cfg: DefaultConfig(), log: slog.New(slog.DiscardHandler)}
	var c searchapi.Config
	if err := m.writeDown(&c, nil, port); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(m.written, written{}) || !reflect.DeepEqual(c, searchapi.Config{}) || port.Slow != nil {
		t.Errorf("%+v, %+v, %v", m.written, c, port.Slow)
	}
}
