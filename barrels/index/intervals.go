package index

import (
	"encoding/binary"
	"slices"

	"adshard/schema/pb"
)

// Interval is an interval of keys, both ends inclusive.
type Interval struct{ Lo, Hi uint64 }

// Joined returns the intervals of the wanted slices, with neighbours joined. A nil want wants all.
func Joined(list []*pb.HeldSlice, want func(*pb.HeldSlice) bool) (runs []Interval) {
	for _, h := range list {
		if want != nil && !want(h) {
			continue
		}
		if n := len(runs); n > 0 && runs[n-1].Hi+1 == h.Lo {
			runs[n-1].Hi = h.Hi
		} else {
			runs = append(runs, Interval{h.Lo, h.Hi})
		}
	}
	return runs
}

// Within reports whether a key lies in one of the disjoint, ascending intervals.
func Within(runs []Interval, key uint64) bool {
	lo, hi := 0, len(runs)
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); runs[mid].Hi < key {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo < len(runs) && runs[lo].Lo <= key
}

// United returns disjoint, ascending intervals with the same keys as list.
func United(list []Interval) (out []Interval) {
	slices.SortFunc(list, func(a, b Interval) int { return before64(a.Lo, b.Lo) - before64(b.Lo, a.Lo) })
	for _, r := range list {
		if n := len(out); n > 0 && (out[n-1].Hi == ^uint64(0) || r.Lo <= out[n-1].Hi+1) {
			out[n-1].Hi = max(out[n-1].Hi, r.Hi)
		} else {
			out = append(out, r)
		}
	}
	return out
}

// AppendIntervals appends the intervals as they are stored: lo and hi of each, as little-endian
// uint64.
func AppendIntervals(dst []byte, list []Interval) []byte {
	for _, r := range list {
		dst = binary.LittleEndian.AppendUint64(dst, r.Lo)
		dst = binary.LittleEndian.AppendUint64(dst, r.Hi)
	}
	return dst
}

func parseIntervals(b []byte) (list []Interval, ok bool) {
	if len(b)%16 != 0 {
		return nil, false
	}
	for ; len(b) > 0; b = b[16:] {
		list = append(list, Interval{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])})
	}
	return list, true
}

// Covered reports whether each key of r lies in one of the runs or one of the cleared intervals.
// Both are ascending and disjoint.
func Covered(r Interval, runs []Interval, cleared []*pb.Interval) bool {
	for key := r.Lo; ; {
		end, ok := endOf(key, runs, cleared)
		if !ok {
			return false
		}
		if end >= r.Hi {
			return true
		}
		key = end + 1
	}
}

// endOf returns the end of the interval that contains a key. ok is false if none does.
func endOf(key uint64, runs []Interval, cleared []*pb.Interval) (end uint64, ok bool) {
	i, _ := slices.BinarySearchFunc(runs, key, func(r Interval, k uint64) int { return before64(r.Hi, k) })
	if i < len(runs) && runs[i].Lo <= key {
		return runs[i].Hi, true
	}
	i, _ = slices.BinarySearchFunc(cleared, key, func(v *pb.Interval, k uint64) int { return before64(v.GetHi(), k) })
	if i < len(cleared) && cleared[i].GetLo() <= key {
		return cleared[i].GetHi(), true
	}
	return 0, false
}

// before64 compares an interval that ends at hi with a key. It returns −1 if the interval lies
// before the key.
func before64(hi, key uint64) int {
	if hi < key {
		return -1
	}
	return 1
}
