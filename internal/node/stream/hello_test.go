package stream

import (
	"strings"
	"testing"

	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search/words"
)

// A master that sends contexts takes no answers of a slave that skips them; a slave that reads them answers older masters.
func TestSlavesThatKnowNoContext(t *testing.T) {
	hello := func(v uint32) *pb.Hello { return &pb.Hello{Version: v, Name: "slave-0"} }
	for _, c := range []struct {
		master, slave uint32
		met           bool
	}{{2, 2, true}, {1, 2, true}, {1, 1, true}, {2, 1, false}, {3, 2, true}, {0, 2, false}} {
		err := meet(hello(c.master), hello(c.slave))
		if c.met != (err == nil) || err != nil && !fault.Is(err, fault.Version) {
			t.Errorf("master of %d, slave of %d: %v", c.master, c.slave, err)
		}
	}
}

// Peers with words in other languages do not work together, and say what to do.
func TestPeersOfOtherLanguages(t *testing.T) {
	more, err := words.ParseLanguages("cs,en,de")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range [][2]words.Languages{{words.Default, more}, {more, words.Default}} {
		err := meet(&pb.Hello{Version: version, Words: l[0].Version()}, &pb.Hello{Version: version, Words: l[1].Version()})
		if !fault.Is(err, fault.Version) || !strings.Contains(err.Error(), "the same `languages`") {
			t.Errorf("master of %v, slave of %v: %v", l[0], l[1], err)
		}
	}
	if err := meet(&pb.Hello{Version: version, Words: more.Version()}, &pb.Hello{Version: version, Words: more.Version()}); err != nil {
		t.Error(err)
	}
}
