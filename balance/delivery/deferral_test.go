package delivery_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"adshard/balance"
	"adshard/balance/delivery"
)

// hotWorld is a distributor with one slave that holds everything, at clock 10. An item's size
// follows its weight: a unit is a byte, and 1,000 units per second are sent again.
type hotWorld struct {
	t      testing.TB
	items  *balance.Index
	d      *delivery.Distributor[content]
	clock  uint64
	number uint64
	now    time.Duration
	at     balance.Position
	most   int // entries that fit into a build; 0: all
	fails  int // number of builds that are to fail
}

const (
	heavy, light = balance.Key(7), balance.Key(9)
	pause        = 200 * time.Millisecond
)

func newHotWorld(t testing.TB) *hotWorld {
	t.Helper()
	w := &hotWorld{t: t, items: &balance.Index{}, clock: 10, number: 4}
	w.items.Put(heavy, 1000)
	w.items.Put(light, 1)
	w.begin()
	return w
}

// begin replaces the distributor by a new one, which knows nothing.
func (w *hotWorld) begin() {
	w.t.Helper()
	base, err := balance.NewModel([]balance.Shard{{Name: "a"}})
	if err != nil {
		w.t.Fatal(err)
	}
	model, err := base.Edit().Model()
	if err != nil {
		w.t.Fatal(err)
	}
	cfg := delivery.Config{Epoch: 1, Repeat: 256_000, Pause: pause} // 256 bytes per unit
	w.d = delivery.New[content](cfg, w.items, 10)
	if w.at == (balance.Position{}) {
		w.at = balance.Position{Epoch: 1, Clock: 10, Quantum: 4}
	}
	w.must(w.d.Quantum(balance.Quantum{Epoch: 1, Number: w.number, Clock: 10, View: 1, Model: model}))
	_, err = w.d.Register(balance.Joining{Name: "a", Position: w.at, Table: all(balance.Full, 1)}, w.clock)
	w.must(err)
	w.d.Defer("a")
}

func (w *hotWorld) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// change changes items, one after another, and tells the distributor.
func (w *hotWorld) change(keys ...balance.Key) {
	w.t.Helper()
	for _, k := range keys {
		w.clock++
		w.must(w.d.Changes([]balance.Change{{Clock: w.clock, Key: k}}))
	}
	w.quantum()
}

func (w *hotWorld) quantum() {
	w.t.Helper()
	w.number++
	w.must(w.d.Quantum(balance.Quantum{Epoch: 1, Number: w.number, Clock: w.clock, View: 1}))
}

// pull makes the slave take what there is, and returns the items that it was sent.
func (w *hotWorld) pull() (got []balance.Key) {
	w.t.Helper()
	w.d.Tick(w.now)
	for {
		for _, b := range w.d.Work().Builds {
			if w.fails > 0 {
				w.fails--
				w.d.Failed("a", b.Seq)
				return got
			}
			n := len(b.Entries)
			if w.most > 0 {
				n = min(n, w.most)
			}
			for _, e := range b.Entries[:n] {
				got = append(got, e.Key)
			}
			w.d.Built(delivery.Built[content]{Slave: "a", Seq: b.Seq, Entries: n, Bytes: 256})
		}
		b, err := w.d.Pull("a", 1, w.at)
		w.must(err)
		if b == nil {
			return got
		}
		if b.To.Compare(w.at) <= 0 {
			w.t.Fatalf("a bucket from %v to %v", w.at, b.To)
		}
		w.at = b.To
	}
}

func (w *hotWorld) want(got []balance.Key, clock uint64, keys ...balance.Key) {
	w.t.Helper()
	if !slices.Equal(got, keys) || w.at.Clock != clock {
		w.t.Fatalf("the slave was sent %v and is at %v, wanted %v and clock %d", got, w.at, keys, clock)
	}
}

// TestALargeItemWaits: the first change of a large item is sent at once. The next ones are sent
// as one when its pause is over, whatever other items do meanwhile. Those are not delayed, and
// the position stays before the first change that waits.
func TestALargeItemWaits(t *testing.T) {
	w := newHotWorld(t)
	w.change(heavy)
	w.want(w.pull(), 11, heavy)
	w.change(heavy, light) // 12, 13
	w.want(w.pull(), 11, light)
	w.change(heavy, heavy, light, heavy) // 14 to 17
	w.want(w.pull(), 11, light)
	if !w.d.Deferred("a") {
		t.Fatal("nothing is said to wait")
	}
	w.now += pause - 1
	w.change(light)
	w.want(w.pull(), 11, light)
	w.now++
	w.want(w.pull(), 18, heavy) // without another quantum
	if w.d.Deferred("a") {
		t.Fatal("something is said to wait")
	}
	w.now += pause
	w.change(heavy)
	w.want(w.pull(), 19, heavy)
}

// TestWhatIsNotDeferred: changes of light items do not wait, and no change waits at a
// distributor without a mapper, or for a slave that does not know deferral.
func TestWhatIsNotDeferred(t *testing.T) {
	w := newHotWorld(t)
	for range 3 {
		w.change(light)
		w.want(w.pull(), w.clock, light)
	}
	w.change(heavy)
	w.want(w.pull(), w.clock, heavy)
	w.change(heavy)
	w.want(w.pull(), w.clock-1)
	w.d.Alone(true)
	w.want(w.pull(), w.clock, heavy)
	w.d.Alone(false)

	_, err := w.d.Register(balance.Joining{Name: "a", Position: w.at, Table: all(balance.Full, 1)}, w.clock)
	w.must(err)
	for range 3 { // Defer was not called
		w.change(heavy)
		w.want(w.pull(), w.clock, heavy)
	}
}

// TestARestartWhileItWaits: a new distributor, or a slave that was restarted, begins at the
// slave's position: at the first change that waits. This change is sent at once.
func TestARestartWhileItWaits(t *testing.T) {
	w := newHotWorld(t)
	w.change(heavy)
	w.pull()
	w.change(heavy, light)
	w.want(w.pull(), 11, light)
	w.begin()
	w.must(w.d.Changes([]balance.Change{{Clock: 11, Key: heavy}, {Clock: 12, Key: heavy}, {Clock: 13, Key: light}}))
	w.quantum()
	w.want(w.pull(), 13, heavy, light)
}

// TestABucketThatIsCut: of the items whose pause is over, those that did not fit wait for the
// next bucket, and the position stays before them. Items that were passed over are not
// forgotten.
func TestABucketThatIsCut(t *testing.T) {
	w := newHotWorld(t)
	w.items.Put(light+1, 1000)
	w.change(heavy, light+1)
	w.want(w.pull(), 12, heavy, light+1)
	w.change(heavy, light, light+1, heavy) // 13 to 16
	w.want(w.pull(), 12, light)
	w.now += pause
	w.change(light) // 17
	w.most = 1
	w.d.Tick(w.now)
	if b := w.d.Work().Builds; len(b) != 1 || len(b[0].Entries) != 3 {
		t.Fatalf("%+v is built", b)
	} else {
		w.d.Built(delivery.Built[content]{Slave: "a", Seq: b[0].Seq, Entries: 1})
	}
	b, err := w.d.Pull("a", 1, w.at)
	w.must(err)
	if w.at = b.To; w.at.Clock != 14 {
		t.Fatalf("the slave is at %v and lacks the change at 15", w.at)
	}
	w.want(w.pull(), 17, light+1, light)
}

// TestWhatIsDeferredInABucketThatFailed: a change that was deferred in a failed bucket does not
// overtake earlier ones. Otherwise a bucket without room for more would skip these, and they
// would never be sent.
func TestWhatIsDeferredInABucketThatFailed(t *testing.T) {
	w := newHotWorld(t)
	w.items.Put(light+1, 1000)
	w.change(heavy, light+1) // 11, 12
	w.want(w.pull(), 12, heavy, light+1)
	w.change(heavy, light) // 13, 14
	w.want(w.pull(), 12, light)
	w.change(light, light+1) // 15, 16
	w.d.Tick(w.now)
	if b := w.d.Work().Builds; len(b) != 1 || len(b[0].Entries) != 1 {
		t.Fatalf("%+v is built", b)
	} else {
		w.d.Failed("a", b[0].Seq)
	}
	w.now += pause
	w.most = 1
	w.want(w.pull(), 16, heavy, light, light+1)
}

// TestABucketLeadsOn: a bucket that was cut ends after its beginning, even without a quantum,
// so that the slave never gets it again.
func TestABucketLeadsOn(t *testing.T) {
	w := newHotWorld(t)
	w.items.Put(light+1, 1000)
	w.change(heavy) // 11
	w.want(w.pull(), 11, heavy)
	w.now += pause / 2
	w.change(light + 1) // 12
	w.want(w.pull(), 12, light+1)
	w.change(heavy, light) // 13, 14
	w.want(w.pull(), 12, light)
	w.now += pause / 2
	w.change(light, light+1) // of these, the second waits
	w.d.Tick(w.now)
	if b := w.d.Work().Builds; len(b) != 1 || len(b[0].Entries) != 2 {
		t.Fatalf("%+v is built", b)
	} else {
		w.d.Built(delivery.Built[content]{Slave: "a", Seq: b[0].Seq, Entries: 1})
	}
	w.now += pause / 2
	w.most = 1
	w.want(w.pull(), 16, light, light+1)
}

// TestABucketLeadsOnInABatch: while a slice is filled, a bucket that was cut also ends after
// its beginning. What is due waits for the next quantum, because a bucket that is cut after it
// would end at its own beginning. Fillings do not wait.
func TestABucketLeadsOnInABatch(t *testing.T) {
	const begin = balance.Key(1 << 32)
	w := newHotWorld(t)
	w.items.Put(light+1, 1000)
	for i := range balance.Key(4) {
		w.items.Put(begin+i, 1)
	}
	w.at.Offset = uint64(begin)
	table := all(balance.Full, 0)
	table.Slices[0].Hi = begin - 1
	rest := table.Slices[0]
	rest.State, rest.Lo, rest.Hi = balance.Filling, begin, balance.MaxKey
	table.Slices = append(table.Slices, rest)
	_, err := w.d.Register(balance.Joining{Name: "a", Position: w.at, Table: table}, w.clock)
	w.must(err)
	w.d.Defer("a")
	one := func(want balance.Key) {
		t.Helper()
		w.d.Tick(w.now)
		b := w.d.Work().Builds
		if len(b) != 1 || b[0].Entries[0].Key != want {
			t.Fatalf("%+v is built, wanted %v", b, want)
		}
		w.d.Built(delivery.Built[content]{Slave: "a", Seq: b[0].Seq, Entries: 1, Bytes: 256})
		next, err := w.d.Pull("a", 1, w.at)
		w.must(err)
		if next.To.Compare(w.at) <= 0 {
			t.Fatalf("the bucket leads from %v to %v", w.at, next.To)
		}
		w.at = next.To
		_, err = w.d.Pull("a", 1, w.at)
		w.must(err)
	}
	w.change(heavy) // 11
	one(heavy)
	w.now += pause / 2
	w.change(light + 1) // 12
	one(light + 1)
	w.change(light+1, heavy) // 13, 14
	one(begin)
	w.now += pause / 2 // the heavy one is due, and the other one holds back the clock
	one(begin + 1)
	w.quantum()
	one(heavy)
	one(begin + 2)
	w.now += pause / 2
	w.quantum()
	w.want(w.pull(), 14, light+1, begin+3)
}

// TestManyLargeItems: only a bounded number of items wait; the others are sent as before.
func TestManyLargeItems(t *testing.T) {
	const most, many = 1 << 10, 1500
	w := newHotWorld(t)
	var keys []balance.Key
	for i := range many {
		keys = append(keys, balance.Key(1000+i))
		w.items.Put(keys[i], 1000)
	}
	w.change(keys...)
	if got := w.pull(); len(got) != many {
		t.Fatalf("%d items were sent", len(got))
	}
	again := func() (got []balance.Key) {
		for range many {
			w.quantum()
			got = append(got, w.pull()...)
		}
		return got
	}
	w.change(keys...)
	if got := again(); len(got) != many-most {
		t.Fatalf("%d items were sent again, so that %d wait", len(got), many-len(got))
	}
	w.now += pause
	if got := again(); len(got) != most || w.at.Clock != w.clock {
		t.Fatalf("%d items were sent in the end, at %v of %d", len(got), w.at, w.clock)
	}
}

// TestNoClockLies: items of all sizes change in any order at any pace, and the distributor is
// sometimes replaced. At every moment, a list of all changes and of everything sent, examined
// from the beginning, must agree with the slave's clock. A change of a light item does not wait
// once a quantum has released it, and a change of a heavy one waits for at most the pause.
func TestNoClockLies(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newHotWorld(t)
		weights := []uint32{1, 3, 50, 100, 200, 1000, 100_000}
		for i, weight := range weights {
			w.items.Put(balance.Key(100+i), weight)
		}
		type made struct {
			clock uint64
			key   balance.Key
			at    time.Duration
		}
		var log []made
		held := map[balance.Key]uint64{} // the newest change of each item that the slave has
		for range rapid.IntRange(1, 120).Draw(rt, "steps") {
			for range rapid.IntRange(0, 4).Draw(rt, "changes") {
				k := balance.Key(100 + rapid.IntRange(0, len(weights)-1).Draw(rt, "item"))
				w.change(k)
				log = append(log, made{w.clock, k, w.now})
			}
			if rapid.IntRange(0, 20).Draw(rt, "replaced") == 0 {
				w.begin()
				for _, c := range log {
					w.must(w.d.Changes([]balance.Change{{Clock: c.clock, Key: c.key}}))
				}
			}
			w.now += time.Duration(rapid.IntRange(0, 120).Draw(rt, "ms")) * time.Millisecond
			w.most = rapid.IntRange(0, 2).Draw(rt, "most")
			if w.fails = rapid.IntRange(0, 8).Draw(rt, "fails") / 8; w.fails > 0 {
				w.pull()
			}
			for range 3 * len(weights) { // while something waits, there is a bucket in each quantum
				w.quantum()
				for _, k := range w.pull() {
					held[k] = w.clock
				}
			}
			for _, c := range log {
				lacks := held[c.key] < c.clock
				light := weights[c.key-100] < 10
				switch why := fmt.Sprintf("the change at %d of item %d, made at %v", c.clock, c.key, c.at); {
				case lacks && c.clock <= w.at.Clock:
					rt.Fatalf("the slave is at %v at %v and lacks %s", w.at, w.now, why)
				case lacks && light:
					rt.Fatalf("%s waits at %v", why, w.now)
				case lacks && w.now >= c.at+pause:
					rt.Fatalf("%s still waits at %v", why, w.now)
				}
			}
		}
	})
}
