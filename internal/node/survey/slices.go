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
		Slice: s.ID, Lo: keyText(s.Lo), Hi: keyText(s.Hi), Slave: m.Name(s.Node), Generation: s.Generation, FromView: s.From,
		Items: uint64(sum.Items), Weight: sum.Weight, Load: sum.Load, Share: ratio(sum.Load, m.load),
	}
	if m.ByLoad() {
		m.In.Loads.Hot(s.Lo, s.Hi, func(balance.Key, float64) bool { out.Hot++; return true })
	}
	if s.Move.Phase == balance.Copying {
		out.To = m.Name(s.Move.Other)
	}
	return out
}

// keyText writes a key as people see it: 16 hexadecimal digits.
func keyText(k balance.Key) string { return fmt.Sprintf("%016x", uint64(k)) }

func number(n uint64) string { return strconv.FormatUint(n, 10) }
