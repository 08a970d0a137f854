package sim

import (
	"fmt"

	"adshard/balance"
)

// describe says which phase a slice's move has reached.
func describe(v balance.Slice, shard string) string {
	return fmt.Sprintf("slice %d on %s is still on its way (phase %d, generation %d)", v.ID, shard, v.Move.Phase, v.Generation)
}

// differs says how a table differs from what it should be.
func differs(t, want balance.Table) string {
	return fmt.Sprintf("it has view %d, least %d, %s; it should have view %d, least %d, %s",
		t.View, t.Least, list(t), want.View, want.Least, list(want))
}

func list(t balance.Table) string {
	out := ""
	for _, h := range t.Slices {
		out += fmt.Sprintf("[slice %d.%d %x-%x state %d views %d-%d]", h.ID, h.Generation, uint64(h.Lo), uint64(h.Hi), h.State, h.From, h.Until)
	}
	return out
}
