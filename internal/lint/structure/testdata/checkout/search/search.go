// Package search is the lowest layer: what it calls in others is against the grain.
package search

// Sink is implemented above.
type Sink interface{ Take(n int) }

// Embedded has the method of another interface.
type Embedded struct{ Sink }

// Visit is called back.
type Visit func(n int)

// Scan calls back through an interface, through one that is embedded, through a
// parameter, and through a field that a parameter was put into.
func Scan(s Sink, visit Visit) {
	s.Take(1)
	e := Embedded{s}
	e.Take(2)
	visit(3)
	k := keeper{kept: visit}
	k.call()
}

type keeper struct{ kept Visit }

func (k *keeper) call() { k.kept(4) }

// Each calls what it is given for each number below n.
func Each[T ~int](n T, f func(T)) {
	for i := range n {
		f(i)
	}
}

// Unused is on no way.
func Unused(s Sink) { s.Take(5) }

func Bare() {}

type (
	// Documented has a comment of its own.
	Documented   int
	Undocumented int
)

// A group's comment is enough.
const (
	One = 1
	Two = 2
)

var Loose int

type hidden struct{}

func (hidden) NotCounted() {}

// Open has a field whose type is not exported.
type Open struct{ Inner *inner }

type inner struct{ shut shut }

func (*inner) Reached() {}

type shut struct{}

func (shut) Unreached() {}
