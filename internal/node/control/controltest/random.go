package controltest

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"adshard/fault"
	"adshard/internal/node/control"
	"adshard/internal/node/control/inmemory"
)

// testRandom makes random histories of terms that replace each other at any moment, and compares
// the results of their calls with the model's.
func testRandom(t *testing.T, f Factory) {
	rapid.Check(t, func(rt *rapid.T) {
		p, model := f(t), new(inmemory.Store)
		h := history{T: rt, place: p, model: model}
		h.begin()
		h.Repeat(map[string]func(*rapid.T){
			"begin": func(*rapid.T) { h.begin() },
			"save":  h.save, "load": h.load, "raise": h.raise, "compact": h.compact,
			"leader": h.leader,
		})
	})
}

// history is a sequence of terms in a store and in the model.
type history struct {
	*rapid.T
	place Place
	model *inmemory.Store
	terms []pair
}

type pair struct{ real, model control.Term }

// begin begins a term, sometimes for the same candidate as before.
func (h *history) begin() {
	who := []control.Candidate{a, b}[rapid.IntRange(0, 1).Draw(h.T, "candidate")]
	real, err := h.place.Open().TakeOver(h.Context(), who)
	if err != nil {
		h.Fatal(err)
	}
	model, _ := h.model.TakeOver(h.Context(), who)
	if real.Epoch() != model.Epoch() {
		h.Fatalf("epoch %d, not %d", real.Epoch(), model.Epoch())
	}
	h.terms = append(h.terms, pair{real, model})
}

// draw returns one of the last terms.
func (h *history) draw(rt *rapid.T) pair {
	back := min(rapid.IntRange(0, 3).Draw(rt, "terms back"), len(h.terms)-1)
	return h.terms[len(h.terms)-1-back]
}

func (h *history) same(rt *rapid.T, what string, real, model error) {
	if (real == nil) != (model == nil) || fault.Is(real, fault.Conflict) != fault.Is(model, fault.Conflict) {
		rt.Fatalf("%s: %v, not %v", what, real, model)
	}
}

func (h *history) save(rt *rapid.T) {
	t, key := h.draw(rt), rapid.SampledFrom([]string{"/model", "/m"}).Draw(rt, "key")
	v := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(rt, "value")
	h.same(rt, "save", t.real.Save(rt.Context(), key, v), t.model.Save(rt.Context(), key, v))
}

func (h *history) load(rt *rapid.T) {
	t, key := h.draw(rt), rapid.SampledFrom([]string{"/model", "/m"}).Draw(rt, "key")
	real, err := t.real.Load(rt.Context(), key)
	if err != nil {
		rt.Fatal(err)
	}
	model, _ := t.model.Load(rt.Context(), key)
	if fmt.Sprintf("%v %q", real == nil, real) != fmt.Sprintf("%v %q", model == nil, model) {
		rt.Fatalf("%s is %q, not %q", key, real, model)
	}
}

func (h *history) raise(rt *rapid.T) {
	t, epoch := h.draw(rt), rapid.Uint64Range(0, 50).Draw(rt, "epoch")
	h.same(rt, "raise", t.real.Raise(rt.Context(), epoch), t.model.Raise(rt.Context(), epoch))
}

func (h *history) compact(rt *rapid.T) {
	t := h.draw(rt)
	h.same(rt, "compact", t.real.Compact(rt.Context(), 1, 0), t.model.Compact(rt.Context(), 1, 0))
}

func (h *history) leader(rt *rapid.T) {
	real, err := h.place.Open().Leader(rt.Context())
	model, _ := h.model.Leader(rt.Context())
	if err != nil || real != model {
		rt.Fatalf("%+v leads, not %+v; %v", real, model, err)
	}
}
