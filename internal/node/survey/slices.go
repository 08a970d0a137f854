package survey

import (
	"fmt"
	"strconv"

	"adshard/balance"
	"adshard/internal/node/httpapi/api"
)

// Info returns the description of a slice.
func (m *Survey) Info(i int) api.SliceInfo {
	s, sum := m.In.Model.Slices()[i], m.Sums[i]
	out := api.SliceInfo{
		Slice: s.ID, Lo: keyText(s.Lo), Hi: keyText(s.Hi), Slave: m.Name(s.Shard), Generation: s.Generation, FromView: s.From,
		Items: uint64(sum.Items), Weight: sum.Weight, Load: sum.Load, Share: ratio(sum.Load, m.load),
	}
	if m.ByLoad() {
		var most balance.Key
		heaviest := 0.0
		m.In.Loads.Hot(s.Lo, s.Hi, func(k balance.Key, load float64) bool {
			if out.Hot++; load > heaviest {
				most, heaviest = k, load
			}
			return true
		})
		if heaviest > 0 && ratio(heaviest, sum.Load) >= dominant {
			item := m.hotItem(most, heaviest, sum.Load)
			out.Dominant = &item
		}
	}
	if s.Move.Phase == balance.Copying {
		out.To = m.Name(s.Move.Other)
	}
	return out
}

// dominant is the share of a slice's load above which a single ad group is named for the slice.
const dominant = 0.5

// hotItem describes an item by its load, given the load of its slice.
func (m *Survey) hotItem(k balance.Key, load, all float64) api.HotItem {
	return api.HotItem{Key: keyText(k), Load: load, Share: min(1, ratio(load, all)), GroupID: m.In.Order.Item(k)}
}

// keyText writes a key in the form for people: 16 hexadecimal digits.
func keyText(k balance.Key) string { return fmt.Sprintf("%016x", uint64(k)) }

func number(n uint64) string { return strconv.FormatUint(n, 10) }
