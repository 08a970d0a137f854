package balancer

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"adshard/backend"
	"adshard/balance"
	"adshard/barrels"
	"adshard/barrels/certify"
	"adshard/fault"
	"adshard/internal/node/truth"
	"adshard/search/words"
)

// TestTruthIsWhatSlavesHave: certificates of slaves that were filled and changed through the balancer
// equal those of the database, for all bins and for any selection.
func TestTruthIsWhatSlavesHave(t *testing.T) {
	r := newRig(t, 2)
	r.Write(12, 4, 5, 1_000_000)
	r.start()
	r.slave("a")
	r.slave("b")
	r.eventually("filled", r.whole)
	if _, err := r.b.SetBudget(t.Context(), 3, backend.BudgetMark{Exhausted: true}); err != nil {
		t.Fatal(err)
	}
	r.Write(6, 5, 6, 2_000_000)
	r.eventually("followed", r.whole)

	certifier := &truth.Certifier{Order: r.b.order, DB: r.DB, Builders: truth.NewBuilders(r.b.order, words.Default, 2)}
	for range 8 {
		bins := rand.Uint64() | 1<<rand.IntN(64)
		var of barrels.Certificate
		parents := map[balance.Parent][2]uint64{}
		for _, s := range r.slaves {
			for _, h := range s.store.Slices().GetSlices() {
				c, err := s.store.Certify(t.Context(), h.Lo, h.Hi, bins, nil)
				r.Must(err)
				of.Items += c.Items
				for _, p := range c.Parents {
					kind := backend.KindAdvertiser
					if p.Campaign {
						kind = backend.KindCampaign
					}
					parents[balance.Parent{Kind: uint8(kind), ID: p.ID}] = [2]uint64{p.Hi, p.Lo}
				}
				for i := range of.Bins {
					of.Bins[i].Add(c.Bins[i])
				}
			}
		}
		r.b.mu.Lock() // weights may still arrive
		keys := truth.Keys(r.b.mapper.Items(), 0, balance.MaxKey, bins)
		r.b.mu.Unlock()
		want, _, err := certifier.Certify(t.Context(), keys, slices.Collect(maps.Keys(parents)))
		r.Must(err)
		equal := slices.EqualFunc(want.Bins[:], of.Bins[:], func(a balance.Sum, b certify.Sum) bool { return a == balance.Sum(b) })
		for _, p := range want.Parents {
			if parents[p.Parent] != [2]uint64{p.Hi, p.Lo} {
				t.Fatalf("parent %+v differs", p.Parent)
			}
		}
		if len(want.Parents) != len(parents) || len(parents) == 0 {
			t.Fatalf("the database has %d of %d parents", len(want.Parents), len(parents))
		}
		if want.Items == 0 || want.Items != of.Items || !equal {
			t.Fatalf("bins %x: the database has %d items, slaves have %d; sums equal: %v", bins, want.Items, of.Items, equal)
		}
	}
}

// TestCertificatesMadeTogether: certificates that are made together equal those that are made one by
// one, whichever parts overlap or are empty.
func TestCertificatesMadeTogether(t *testing.T) {
	r := newRig(t, 1)
	r.Write(40, 4, 5, 1_000_000)
	r.start()
	r.slave("a")
	r.eventually("filled", r.whole)
	certifier := &truth.Certifier{Order: r.b.order, DB: r.DB, Builders: truth.NewBuilders(r.b.order, words.Default, 2)}
	r.b.mu.Lock()
	keys := truth.Keys(r.b.mapper.Items(), 0, balance.MaxKey, ^uint64(0))
	r.b.mu.Unlock()
	campaigns := []balance.Parent{{Kind: uint8(backend.KindAdvertiser), ID: 1}, {Kind: uint8(backend.KindCampaign), ID: 2}, {Kind: uint8(backend.KindCampaign), ID: 999}}
	var parts []truth.Part
	for range 30 {
		from := rand.IntN(len(keys))
		p := truth.Part{Keys: keys[from : from+rand.IntN(len(keys)-from+1)]}
		for _, of := range campaigns {
			if rand.IntN(2) == 0 {
				p.Parents = append(p.Parents, of)
			}
		}
		parts = append(parts, p)
	}
	all, _, err := certifier.CertifyAll(t.Context(), parts)
	r.Must(err)
	some := 0
	for i, p := range parts {
		alone, _, err := certifier.Certify(t.Context(), p.Keys, p.Parents)
		r.Must(err)
		if !reflect.DeepEqual(alone, all[i]) || int(alone.Items) != len(p.Keys) {
			t.Errorf("part %d, %d items: %+v, alone %+v", i, len(p.Keys), all[i], alone)
		}
		some += len(all[i].Parents)
	}
	if some == 0 {
		t.Error("no parent was certified")
	}
}

// TestAQuestionFailsAlone: certificates that are requested together with one that gets no answer are
// still answered.
func TestAQuestionFailsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, nil)
	var list []balance.Certify
	add := func(of string) int {
		for _, id := range w.on(of) {
			s := w.slice(id)
			list = append(list, balance.Certify{Seq: uint64(len(list) + 1), Lo: s.Lo, Hi: s.Hi, Wanted: ^uint64(0), Target: "slave-0", Within: 10 * time.Second})
		}
		return len(list)
	}
	own := add("slave-0")
	others := add("slave-1")
	add("slave-0")
	if own == 0 || others == own {
		t.Fatalf("slaves have %d and %d slices", own, others-own)
	}
	answers := w.b.certifier.certify(t.Context(), list)
	if len(answers) != len(list) {
		t.Fatalf("%d answers to %d questions", len(answers), len(list))
	}
	for i, a := range answers {
		held := i < own || i >= others
		switch {
		case a.Seq != list[i].Seq:
			t.Errorf("answer %d is of question %d", i, a.Seq)
		case !held && !fault.Is(a.Failed, fault.Unavailable):
			t.Errorf("slave-0 does not hold slice %d: %v", i, a.Failed)
		case held && (a.Failed != nil || a.Target.Bins != a.Truth.Bins || a.Truth.Items == 0 || len(a.Truth.Parents) == 0):
			t.Errorf("slice %d: %v, %+v, the database %+v", i, a.Failed, a.Target, a.Truth)
		}
	}
	for i := range list {
		list[i].Source = "nobody"
	}
	answers = w.b.certifier.certify(t.Context(), list)
	if len(answers) != len(list) {
		t.Fatalf("%d answers to %d questions", len(answers), len(list))
	}
	for _, a := range answers {
		if !fault.Is(a.Failed, fault.Unavailable) {
			t.Errorf("a slave that there is not answers %d: %v", a.Seq, a.Failed)
		}
	}
}
