//go:build invariants

package index

import (
	"testing"

	"adshard/barrels/kv"
)

// TestInvariantsBite: data that are laid out differently are detected.
func TestInvariantsBite(t *testing.T) {
	prepared := func() *Block {
		return NewPostingList(1, []*Block{NewBlock(1, kv.Place{}, blockValue(1))}).Block(0)
	}
	for name, spoil := range map[string]func(*Block, *Impacts){
		"a class begins elsewhere": func(b *Block, _ *Impacts) { b.Classes()[0].first = 1 },
		"a posting is not there":   func(b *Block, _ *Impacts) { b.Members()[0] = 7 },
		"an impact of nobody":      func(b *Block, j *Impacts) { j.Ranked(b, 0)[0] = NewImpact(5, 1, 3) },
		"a profile of nobody":      func(b *Block, j *Impacts) { j.Ranked(b, 0)[0] = NewImpact(5, 1, 0).Of(1) },
	} {
		t.Run(name, func(t *testing.T) {
			b := prepared()
			j := NewImpacts(b, []ProfileRef{0})
			checkBlock(b)
			CheckImpacts(j, b)
			spoil(b, j)
			defer func() {
				if recover() == nil {
					t.Error("it goes unnoticed")
				}
			}()
			checkBlock(b)
			CheckImpacts(j, b)
		})
	}
}
